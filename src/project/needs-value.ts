import type { Column, Table } from "./model.js";

/** Whether a new row has to say it: also a key that may be NULL, as old tables have them, since nobody could reach such a row. */
export function needsValue(
  column: Column,
  table: Table,
  isGiven: boolean = isNumbered(column, table),
): boolean {
  const isWanted = column.notNull || table.primaryKey.includes(column.name);
  return isWanted && column.default === null && !isGiven;
}

/**
 * SQLite numbers an integer that is the whole key. Of a pulled table the file cannot tell: there the database has the last
 * word, as `CatalogTable.rowid`.
 */
export function isNumbered(column: Column, { primaryKey }: Table): boolean {
  return column.type === "integer" && primaryKey.length === 1 && primaryKey[0] === column.name;
}
