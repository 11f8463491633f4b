/**
 * Marks names which may stand in SQL text. Only `tableName`, `columnName`, `systemTableName` and `systemColumnName`
 * give this brand, so a string from a request never becomes an SQL identifier.
 */
declare const brand: unique symbol;
/** A table's name that may stand in SQL, in quotes. */
export type TableName = string & { readonly [brand]: "TableName" };
/** A column's name that may stand in SQL, in quotes. */
export type ColumnName = string & { readonly [brand]: "ColumnName" };

/** A valid name of a table or column (docs/reference/schema.md#names). */
const pattern = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;

/** Whether the text is valid as a name of a table or column. SQLite reserves names that begin with `sqlite_`. */
export function isName(text: string): boolean {
  return pattern.test(text) && !/^sqlite_/i.test(text);
}

/** For names in the schema or the database, never a string of a request. Throws if the name is not valid. */
export function tableName(text: string): TableName {
  return checked(text) as TableName;
}

/** For names in the schema or the database, never a string of a request. Throws if the name is not valid. */
export function columnName(text: string): ColumnName {
  return checked(text) as ColumnName;
}

function checked(text: string): string {
  if (!isName(text)) throw new Error(`not a name: ${JSON.stringify(text)}`);
  return text;
}

/**
 * Marks the name of a table of the server's own, which begins with `_` as no name of a project does. For constants
 * only: the text is not checked.
 */
export function systemTableName(text: string): TableName {
  return text as TableName;
}

/** Marks the name of a column of the server's own tables. For constants only: the text is not checked. */
export function systemColumnName(text: string): ColumnName {
  return text as ColumnName;
}

/** The server's own table of users, which schemas and rules call `$users`. */
export const usersTable = systemTableName("_users");

/**
 * The name that a column of a table has in subqueries and common table expressions. SQLite calls a column of these
 * `columnN` where its name is `true` or `false`, in any case, even where it is quoted.
 */
export function carriedName<T extends string>(column: T): T {
  return /^(true|false)$/i.test(column) ? (`_${column}` as T) : column;
}

/** The name of a column of a table, of which this is the `carriedName`. */
export function storedName(carried: string): string {
  return /^_(true|false)$/i.test(carried) ? carried.slice(1) : carried;
}

/** The name in SQL of a table that a schema or a rule refers to. */
export function sqlTableName(table: TableName | "$users"): TableName {
  return table === "$users" ? usersTable : table;
}
