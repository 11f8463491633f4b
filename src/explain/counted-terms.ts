import type { TermTree } from "../rules/term-tree.js";
import { asShown } from "../tables/access/as-shown.js";
import type { ListRequest } from "../tables/request/list-request.js";
import { countedNames, countStatement, termSql } from "../tables/sql/explained.js";
import { bind } from "../tables/sql-text/fragment.js";
import type { ExplainedTerm } from "../wire/explanation.js";
import { explainedTerm } from "./answer.js";
import { type ExplainedCall, queryInTime } from "./explained-call.js";
import type { PlacedRule } from "./placed-rule.js";
import { bound, judgeWithoutRow, readsNoRow } from "./terms.js";
import { type TermOrUse, termsAndUsesIn, termsIn } from "./truths.js";

/** The numbers of rows for which a term of a rule is TRUE, FALSE and NULL. */
type TermCounts = NonNullable<ExplainedTerm["counts"]>;

/**
 * Returns the terms of a list's rule, with their values. A term that reads no row has one value for the whole list. For
 * any other term it is counted for how many rows it is TRUE, FALSE and NULL, among those that match the list's filters,
 * up to the scan limit. Nothing is counted where `request` is null.
 */
export async function countedTerms(
  asked: ExplainedCall,
  placed: PlacedRule,
  request: ListRequest | null,
): Promise<readonly ExplainedTerm[]> {
  const truths = await judgeWithoutRow(asked, termsIn(placed.tree));
  const all = termsAndUsesIn(placed.tree);
  const ofRows = all.filter((each) => !readsNoRow(each));
  // The statements that count look for rows by the list's filters alone. For a list with a full-text search they would
  // count rows that the search does not find, so nothing is counted for it.
  const counts = request === null || request.search !== null ? new Map() : await countsOf(asked, ofRows, request);
  return all.map((each) => explainedTerm(each, placed, truths, undefined, counts.get(each)));
}

async function countsOf(
  asked: ExplainedCall,
  terms: readonly TermOrUse[],
  request: ListRequest,
): Promise<ReadonlyMap<TermTree, TermCounts>> {
  const { table, services } = asked;
  const { catalog } = services.project;
  const names = countedNames(table, catalog);
  const parts = terms.map((term) => ({ term, sql: termSql(bound(term, asked), names, catalog) }));
  const quick = parts.filter(({ sql }) => sql.isQuick);
  const slow = parts.filter(({ sql }) => !sql.isQuick);
  const groups = [...(quick.length === 0 ? [] : [quick]), ...slow.map((part) => [part])];
  const filters = request.filters.map((filter) => asShown(filter, table.name, catalog, request.filterValues));
  const counts = new Map<TermTree, TermCounts>();
  for (const [i, group] of groups.entries()) {
    const values = group.map(({ sql }) => sql.value);
    const statement = countStatement(table, filters, values, services.config.api.scan_limit, catalog);
    // These statements together may take half of the time that is left. The other half is for the rest of the
    // explanation.
    const results = await queryInTime(asked, [bind(statement, [request.filterValues])], 0.5 / (groups.length - i));
    if (results === undefined) continue;
    const [rows, text] = results[0]!.rows[0] as readonly [number, string];
    const numbers = text.split(",").map(Number);
    group.forEach(({ term }, at) => {
      const [yes, no] = [numbers[2 * at]!, numbers[2 * at + 1]!];
      counts.set(term, { true: yes, false: no, null: rows - yes - no });
    });
  }
  return counts;
}
