import type { Row, TableShape } from "../server/shapes.js";

/** The key of a row as an object of its columns; null where the table has none, or the row does not have all of it. */
export function keyOf({ primary_key: names }: Pick<TableShape, "primary_key">, row: Row): Row | null {
  if (names.length === 0 || names.some((name) => row[name] === undefined || row[name] === null)) return null;
  return Object.fromEntries(names.map((name) => [name, row[name]]));
}

/** A key as one text, equal for equal keys. */
export function keyText(key: Row): string {
  return JSON.stringify(Object.values(key));
}

/** A key for people: `7`, or `lobby · 7f3a`. */
export function keyLabel(key: Row): string {
  return Object.values(key).map(String).join(" · ");
}
