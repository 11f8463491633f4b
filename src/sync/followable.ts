import type { Schema, Table } from "../project/model.js";
import type { ColumnReference, Exists, Expression, Operand } from "../rules/ast.js";
import { conjuncts, existsChains, existsIn, leavesOf, operandsOf } from "../rules/walk.js";
import type { Catalog, CatalogTable } from "../schema/catalog.js";
import { sqlTableName } from "../sqlite/names.js";

/**
 * Why a table cannot be synced to clients, as a message for a person; null if it can. Sync follows a read rule by the
 * log of changes. So everything that may change the rule's result for a row has to have a log entry, and from such an
 * entry the server has to find the rows whose result may change (docs/sync.md#which-tables).
 */
export function notFollowable(table: Table, rule: Expression, schema: Schema, catalog: Catalog): string | null {
  if (table.historyDays === null) return "it keeps no history: say how long in svc.schema.yaml, as in history: 30d";
  const operands = leavesOf(rule).flatMap(operandsOf);
  if (operands.some(({ kind }) => kind === "now"))
    return "its read rule names now(), and nothing tells when that makes a difference";
  for (const chain of existsChains(rule)) {
    const { table: name } = chain.at(-1)!;
    if (name === "$users") return "its read rule looks into $users, which keeps no history";
    if (schema.tables.get(name)?.historyDays === null)
      return `its read rule looks into ${name}, which keeps no history: say how long in svc.schema.yaml, as in history: 30d`;
    const problem = leadProblem(chain, table, catalog);
    if (problem !== null) return problem;
  }
  return null;
}

/**
 * Why a changed row of the last `exists` in `chain` does not lead to the rows of `table`, whose read rule contains the
 * chain; null if it does. Each table on the way from that row has to be looked up by an index. A table that no
 * condition ties to the others needs none: all its rows are looked at, and their number is limited when the query runs.
 */
function leadProblem(chain: readonly Exists[], table: Table, catalog: Catalog): string | null {
  const terms = chain.flatMap(({ where }) => conjuncts(where)).filter((term) => existsIn(term).length === 0);
  const others = chain.slice(0, -1).map((node) => ({ alias: node.alias, name: sqlTableName(node.table) }));
  for (const { alias, name } of [...others, { alias: null, name: table.name }]) {
    const isIts = (operand: Operand): operand is ColumnReference =>
      operand.kind === "column" &&
      (typeof operand.source === "object" ? operand.source.alias === alias : alias === null);
    const named = terms.filter((term) => leavesOf(term).flatMap(operandsOf).some(isIts));
    if (named.length > 0 && !named.some((term) => leads(term, isIts, leadingColumns(catalog.tables.get(name)))))
      return `no index leads from a change in ${chain.at(-1)!.table} to the rows of ${name} that its read rule ties to it: an equality between the two is needed, and an index of ${name} that begins with its column`;
  }
  return null;
}

/** Whether a term of a rule is an equality with one of the columns `leading`, by which an index finds rows. */
function leads(
  term: Expression,
  isIts: (operand: Operand) => operand is ColumnReference,
  leading: ReadonlySet<string>,
): boolean {
  if (term.kind !== "compare" || term.operator !== "=") return false;
  const its = [term.left, term.right].filter(isIts);
  return its.length === 1 && leading.has(its[0]!.column);
}

/** The columns by which rows of a table can be looked up: the rowid, and the first column of each index. */
function leadingColumns(physical: CatalogTable | undefined): ReadonlySet<string> {
  const columns = [physical?.rowid, ...(physical?.indexes ?? []).map(({ columns: [first] }) => first?.name)];
  return new Set(columns.filter((column) => column != null));
}
