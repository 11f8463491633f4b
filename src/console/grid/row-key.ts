import type { Row, TableShape } from "../server/shapes.js";

/**
 * The primary key of a row, as an object of its columns; null where the table has no primary key, or the row lacks a
 * value of it.
 */
export function keyOf({ primary_key: names }: Pick<TableShape, "primary_key">, row: Row): Row | null {
  if (names.length === 0 || names.some((name) => row[name] === undefined || row[name] === null)) return null;
  return Object.fromEntries(names.map((name) => [name, row[name]]));
}

/**
 * The key of a row as one text, by which rows are found again: it is equal for equal keys. Null where the row has no
 * key.
 */
export function rowId(table: Pick<TableShape, "primary_key">, row: Row): string | null {
  const key = keyOf(table, row);
  return key && JSON.stringify(Object.values(key));
}

/** The key of a row as people are shown it: `7`, or `lobby · 7f3a` for one of two columns. */
export function keyLabel(key: Row): string {
  return Object.values(key).map(String).join(" · ");
}
