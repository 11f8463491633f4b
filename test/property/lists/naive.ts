import { compareRows, type Fold, matches, truthOfGroup, withKey } from "../support/evaluate.js";
import { type Row, toWire } from "../support/values.js";
import type { Query } from "./query.js";
import { fold, type TableSpec } from "./tables.js";

/** Every row that the query selects, in its order. `rows` are in the order of insertion. */
export function evaluateQuery(spec: TableSpec, query: Query, rows: readonly Row[]): readonly Row[] {
  const order = withKey(query.sort, spec.primaryKey);
  const folded: Fold = (value, column) => fold(value, spec.columns[column]!.collation);
  return rows
    .filter((row) => query.filters.every((filter) => matches(filter, row, folded)))
    .filter((row) => query.groups === null || truthOfGroup(query.groups, row, folded) === true)
    .sort((a, b) => compareRows(order, a, b, folded));
}

/** A row as a response shows it. */
export function shown(spec: TableSpec, select: readonly string[] | null, row: Row): Record<string, unknown> {
  const columns = select ?? Object.keys(spec.columns);
  return Object.fromEntries(columns.map((name) => [name, toWire(spec.columns[name]!.type, row[name]!)]));
}
