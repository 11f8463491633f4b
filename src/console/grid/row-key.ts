import type { SchemaTable } from "../../wire/schema-in-force.js";
import type { TableRow } from "../server/table-row.js";

/** The primary key of a row; null if the table has none, or the row lacks a value of it. */
export function primaryKeyOf({ primary_key: names }: Pick<SchemaTable, "primary_key">, row: TableRow): TableRow | null {
  if (names.length === 0 || names.some((name) => row[name] === undefined || row[name] === null)) return null;
  return Object.fromEntries(names.map((name) => [name, row[name]]));
}

/** The key of a row as one text, equal for equal keys. Null if the row has no key. */
export function rowId(table: Pick<SchemaTable, "primary_key">, row: TableRow): string | null {
  const key = primaryKeyOf(table, row);
  return key && JSON.stringify(Object.values(key));
}

/** The key as people are shown it: `7`, or `lobby · 7f3a` for two columns. */
export function keyLabel(key: TableRow): string {
  return Object.values(key).map(String).join(" · ");
}
