/**
 * The type brand that marks names which may stand in SQL text, so that the compiler tells them from other strings. Only
 * `tableName`, `columnName`, `systemTableName` and `systemColumnName` give it, so a string from a request never becomes
 * an SQL identifier.
 */
declare const brand: unique symbol;
/** A table's name that may stand in SQL, in quotes. */
export type TableName = string & { readonly [brand]: "TableName" };
/** A column's name that may stand in SQL, in quotes. */
export type ColumnName = string & { readonly [brand]: "ColumnName" };

/** The form of a valid name of a table or column: at most 63 characters (docs/reference/schema.md#names). */
const pattern = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;

/**
 * Whether the text is valid as a name of a table or column. Names that begin with `sqlite_` are reserved by SQLite.
 */
export function isName(text: string): boolean {
  return pattern.test(text) && !/^sqlite_/i.test(text);
}

/**
 * Makes a TableName from a name in the schema or the database, never from a string of a request. Throws where the name
 * is not valid.
 */
export function tableName(text: string): TableName {
  return checked(text) as TableName;
}

/**
 * Makes a ColumnName from a name in the schema or the database, never from a string of a request. Throws where the name
 * is not valid.
 */
export function columnName(text: string): ColumnName {
  return checked(text) as ColumnName;
}

function checked(text: string): string {
  if (!isName(text)) throw new Error(`not a name: ${JSON.stringify(text)}`);
  return text;
}

/**
 * Marks a text as the name of a table of the server's own, which begins with `_` as no name of a project does. For
 * constants only, because the text is not checked.
 */
export function systemTableName(text: string): TableName {
  return text as TableName;
}

/**
 * Marks a text as the name of a column of the server's own tables. For constants only, because the text is not checked.
 */
export function systemColumnName(text: string): ColumnName {
  return text as ColumnName;
}

/** The server's own table of users, which schemas and rules call `$users`. */
export const usersTable = systemTableName("_users");

/** Returns the name in SQL of a table that a schema or a rule refers to, which may be `$users`. */
export function sqlTableName(table: TableName | "$users"): TableName {
  return table === "$users" ? usersTable : table;
}
