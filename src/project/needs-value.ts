import type { Column, Table } from "./model.js";

/**
 * Whether a request for a new row has to give a value: the column has no default, is not set by the database
 * (`isGiven`), and is NOT NULL or part of the primary key. Key columns that may be NULL, as older tables have them,
 * need a value too, because no request could reach a row with NULL in its key.
 */
export function needsValue(column: Column, table: Table, isGiven: boolean = isNumbered(column, table)): boolean {
  const isWanted = column.notNull || table.primaryKey.includes(column.name);
  return isWanted && column.default === null && !isGiven;
}

/**
 * Whether SQLite numbers the column by itself, judged by the schema: an integer that is the whole primary key. The
 * schema of a table that was pulled from an existing database does not show it; there `CatalogTable.rowid` does.
 */
export function isNumbered(column: Column, { primaryKey }: Table): boolean {
  return column.type === "integer" && primaryKey.length === 1 && primaryKey[0] === column.name;
}
