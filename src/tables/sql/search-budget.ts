import type { ListPlan } from "../plan/list-plan.js";
import { integer, internalName, name, param, Slot, type Sql, sql, sum } from "../sql-text/fragment.js";
import type { CandidateSource } from "./candidates.js";
import { type Gate, narrowed } from "./gate.js";

/**
 * What it costs a `contains` filter to search one byte: this number, plus 1 for each byte of the text that is looked
 * for. The unit is that of `searchCostMax`.
 */
const searchedByteCost = 300;
/**
 * How much the `contains` filters of a request may cost together. The cost of a filter is the number of bytes that it
 * searches, in all rows that the index finds for the window, times the cost of a byte.
 * `docs/reference/limits.md#requests` says how long that takes.
 */
const searchCostMax = 80_000_000_000;

/** What finds out, before anything is searched, what the `contains` filters of a list would cost. */
export interface SearchBudget {
  /**
   * The gate of the list's statement (what is decided before any row is read). It is closed, so that no row is read,
   * also where the search would cost more than is allowed.
   */
  readonly gate: Gate;
  /** A JSON array `[rows that would be searched, 1 if the cost is allowed, else 0]`; NULL if not measured. */
  readonly measured: Sql;
}

/**
 * Makes the SQL that limits the cost of a list's `contains` filters. SQLite's `instr` compares the text at every place,
 * so the cost grows with both lengths. Only for the first page of a window the cost is measured: later pages search
 * what is left of the same rows.
 */
export function searchBudget(plan: ListPlan, source: CandidateSource): SearchBudget {
  const { searches, window } = plan;
  const { gate } = source;
  if (searches.length === 0 || window.counted) return { gate, measured: sql`NULL` };
  const bytes = searches.map((_, i) => internalName("s", i));
  const costs = searches.map(({ text }, i) => {
    const each = sql`(${integer(searchedByteCost)} + octet_length(${param(new Slot(text.name))}))`;
    return sql`ifnull(sum(_w.${bytes[i]!}), 0) * ${each}`;
  });
  const fits = sql`${sum(costs)} <= ${integer(searchCostMax)}`;
  const searched = sql`_searched AS MATERIALIZED (SELECT count(*) AS n, ${fits} AS fits FROM (${sizes(plan, bytes, source)}) AS _w)`;
  return {
    gate: narrowed(gate, [searched], sql`(SELECT fits FROM _searched)`),
    measured: sql`(SELECT json_array(n, fits) FROM _searched)`,
  };
}

/**
 * Makes a SELECT of how many bytes each `contains` filter would search, one row for each row that the index finds for
 * the window. SQLite knows the lengths of texts without reading them.
 */
function sizes({ path, scanLimit, searches }: ListPlan, names: readonly Sql[], source: CandidateSource): Sql {
  const list = searches.map(({ column }, i) => sql`octet_length(_t.${name(column)}) AS ${names[i]!}`);
  const limit = (rows: number) => source.gate.limited(integer(rows));
  return path.ordered
    ? source.inOrder([], list, sql`LIMIT ${limit(scanLimit)}`, null)
    : source.inAnyOrder([], list, limit(scanLimit + 1));
}
