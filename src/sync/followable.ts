import type { Schema, Table } from "../project/model.js";
import type { Exists, Expression } from "../rules/ast.js";
import { conjuncts, existsChains, existsIn, leavesOf, operandsOf } from "../rules/walk.js";
import type { Catalog } from "../schema/catalog.js";

/**
 * Why a table cannot be synced, for a person; null where it can. A log can follow a rule if whatever changes its result
 * for a row has an entry, and if an entry leads to the rows that it matters to (docs/sync.md#which-tables).
 */
export function notFollowable(
  table: Table,
  rule: Expression,
  schema: Schema,
  catalog: Catalog,
): string | null {
  if (table.historyDays === null) return "it keeps no history: say how long, as in history: 30d";
  const operands = leavesOf(rule).flatMap(operandsOf);
  if (operands.some(({ kind }) => kind === "now"))
    return "its read rule names now(), and nothing tells when that makes a difference";
  for (const chain of existsChains(rule)) {
    const { table: name } = chain.at(-1)!;
    if (name === "$users") return "its read rule looks into $users, which keeps no history";
    if (schema.tables.get(name)?.historyDays === null)
      return `its read rule looks into ${name}, which keeps no history: say how long, as in history: 30d`;
    const problem = leadProblem(chain, table, catalog);
    if (problem !== null) return problem;
  }
  return null;
}

/**
 * Why a changed row of the last `exists` does not lead to rows of the table: each table on the way has to be looked up
 * by an index. One that no condition ties to the others is looked at as a whole, which is found out by counting.
 */
function leadProblem(chain: readonly Exists[], table: Table, catalog: Catalog): string | null {
  const terms = chain.flatMap(({ where }) => conjuncts(where)).filter((term) => existsIn(term).length === 0);
  const ways = [
    ...chain
      .slice(0, -1)
      .map(({ alias, table: name }) => ({ source: alias as string | null, name: name as string })),
    { source: null, name: table.name as string },
  ];
  for (const { source, name } of ways) {
    const isIts = (operand: unknown): operand is { column: string } => {
      const { kind, source: of } = operand as { kind: string; source: unknown };
      if (kind !== "column") return false;
      return source === null
        ? of === "row"
        : typeof of === "object" && (of as { alias: string }).alias === source;
    };
    const named = terms.filter((term) => leavesOf(term).flatMap(operandsOf).some(isIts));
    if (named.length === 0) continue;
    const physical = catalog.tables.get(name as Table["name"]);
    const leading = [physical?.rowid, ...(physical?.indexes ?? []).map(({ columns }) => columns[0]?.name)];
    const isLed = named.some(
      (term) =>
        term.kind === "compare" &&
        term.operator === "=" &&
        [term.left, term.right].some((side) => isIts(side) && leading.includes(side.column as never)) &&
        ![term.left, term.right].every(isIts),
    );
    if (!isLed) {
      const { table: last } = chain.at(-1)!;
      return `no index leads from a change in ${last} to the rows of ${name} that its read rule ties to it: an equality between the two is needed, and an index of ${name} that begins with its column`;
    }
  }
  return null;
}
