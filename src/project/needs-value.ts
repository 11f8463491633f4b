import type { Column, Table } from "./model.js";

/**
 * Whether a new row has to give a value for the column, because it has no default and is NOT NULL or part of the
 * primary key. That includes keys that may be NULL, as old tables have them, because no request could reach a row with
 * NULL in its key. `isGiven`: the database gives the column a value by itself.
 */
export function needsValue(
  column: Column,
  table: Table,
  isGiven: boolean = isNumbered(column, table),
): boolean {
  const isWanted = column.notNull || table.primaryKey.includes(column.name);
  return isWanted && column.default === null && !isGiven;
}

/**
 * Whether SQLite numbers the column by itself: an integer that is the whole primary key. For a pulled table the file
 * does not tell; there `CatalogTable.rowid` decides.
 */
export function isNumbered(column: Column, { primaryKey }: Table): boolean {
  return column.type === "integer" && primaryKey.length === 1 && primaryKey[0] === column.name;
}
