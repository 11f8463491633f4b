import type { Exists, Expression, Operand } from "../../project/rules/ast.js";
import { conjuncts } from "../../project/rules/conjuncts.js";
import type { Catalog } from "../../schema/catalog.js";
import type { Seek as PlannedSeek } from "../plan-check.js";
import { aliasName, and, name, physicalName, type Sql, sql } from "./fragment.js";
import { existsSql, predicate, type Scope } from "./predicate.js";

/**
 * An `exists` as a value that also tells what it examined: NULL where no row was, 1 where one was that did not match,
 * 2 where one matched. `exact` is false where no index serves it and the number of rows is not known.
 */
export interface Probe {
  readonly value: Sql;
  readonly exact: boolean;
  /** Null where it is not exact. */
  readonly seek: PlannedSeek | null;
}

/** Reads a probe's value as the truth of its `exists`. */
export function probeMatched(value: Sql): Sql {
  return sql`(${value} IS 2)`;
}

/** The `exists` nodes of an expression that no other one encloses. */
export function outermostExists(expression: Expression): readonly Exists[] {
  switch (expression.kind) {
    case "exists":
      return [expression];
    case "not":
      return outermostExists(expression.term);
    case "and":
    case "or":
      return expression.terms.flatMap(outermostExists);
    default:
      return [];
  }
}

/**
 * The first match ends a probe, so one that an index serves as a whole visits a single row or none. One that a whole
 * unique key serves visits that row whatever its other terms say of it.
 */
export function probe(exists: Exists, scope: Scope, catalog: Catalog): Probe {
  const terms = conjuncts(exists.where);
  const columns = new Map<string, Expression>();
  for (const term of terms) {
    const column = seekColumn(term, exists.alias);
    if (column !== null && !columns.has(column)) columns.set(column, term);
  }
  const inner: Scope = { ...scope, exists: (nested) => existsSql(nested, inner) };
  const seek = seekOf(exists, columns, terms.length, catalog);
  if (seek === null || terms.some((term) => outermostExists(term).length > 0))
    return { value: sql`CASE WHEN ${existsSql(exists, inner)} THEN 2 END`, exact: false, seek: null };
  const served = seek.columns.map((column) => columns.get(column)!);
  const rest = terms.filter((term) => !served.includes(term));
  const found =
    rest.length === 0
      ? sql`2`
      : sql`CASE WHEN ${and(rest.map((t) => predicate(t, inner)))} THEN 2 ELSE 1 END`;
  const from = exists.table === "$users" ? sql`_users` : name(exists.table);
  const where = and(served.map((term) => predicate(term, inner)));
  return {
    value: sql`(SELECT ${found} FROM ${from} AS ${aliasName(exists.alias)} ${seek.hint} WHERE ${where} LIMIT 1)`,
    exact: true,
    seek: { alias: aliasName(exists.alias).text.replaceAll('"', ""), columns: seek.columns },
  };
}

/** Those of probes that are exact. */
export function seeksOf(probes: readonly Probe[]): readonly PlannedSeek[] {
  return probes.flatMap(({ seek }) => (seek === null ? [] : [seek]));
}

interface Seek {
  readonly columns: readonly string[];
  readonly hint: Sql;
}

function seekOf(
  { table }: Exists,
  columns: ReadonlyMap<string, Expression>,
  termCount: number,
  catalog: Catalog,
): Seek | null {
  if (table === "$users") return columns.has("id") ? { columns: ["id"], hint: sql`` } : null;
  const physical = catalog.tables.get(table);
  if (physical === undefined) return null;
  if (physical.rowid !== null && columns.has(physical.rowid))
    return { columns: [physical.rowid], hint: sql`NOT INDEXED` };
  for (const index of physical.indexes) {
    const key = index.columns.map((column) => column.name);
    const served = key.slice(0, leadingCount(key, columns));
    const decides = served.length === termCount || (index.unique && served.length === key.length);
    if (served.length > 0 && decides)
      return { columns: served, hint: sql`INDEXED BY ${physicalName(index.name)}` };
  }
  return null;
}

function leadingCount(key: readonly string[], columns: ReadonlyMap<string, Expression>): number {
  const missing = key.findIndex((column) => !columns.has(column));
  return missing === -1 ? key.length : missing;
}

/** The alias's column that an equality with something outside of the alias can seek by. */
function seekColumn(term: Expression, alias: string): string | null {
  if (term.kind !== "compare" || term.operator !== "=") return null;
  const own = (operand: Operand) => operand.kind === "column" && isOwn(operand.source, alias);
  const { left, right } = term;
  if (left.kind === "column" && own(left) && !own(right)) return left.column;
  if (right.kind === "column" && own(right) && !own(left)) return right.column;
  return null;
}

function isOwn(source: unknown, alias: string): boolean {
  return typeof source === "object" && source !== null && (source as { alias: string }).alias === alias;
}
