/**
 * Names that came out of a parsed schema. Nothing else makes one, so a caller's string never reaches SQL text as an
 * identifier.
 */
declare const brand: unique symbol;
/** A table's name, as it may stand in SQL in quotes. */
export type TableName = string & { readonly [brand]: "TableName" };
/** A column's name, as it may stand in SQL in quotes. */
export type ColumnName = string & { readonly [brand]: "ColumnName" };

/** docs/reference/schema.md: at most 63 characters, and `sqlite_` is SQLite's own. */
const pattern = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;

/** Whether the text can be a table's or a column's name. */
export function isName(text: string): boolean {
  return pattern.test(text) && !/^sqlite_/i.test(text);
}

/** The name of a table that the schema or the database itself gave; throws where it is none. Never for a caller's string. */
export function tableName(text: string): TableName {
  return checked(text) as TableName;
}

/** As `tableName`, of a column. */
export function columnName(text: string): ColumnName {
  return checked(text) as ColumnName;
}

function checked(text: string): string {
  if (!isName(text)) throw new Error(`not a name: ${JSON.stringify(text)}`);
  return text;
}

/** The service's own tables begin with `_`, which no name of a project does. For fixed texts alone. */
export function systemTableName(text: string): TableName {
  return text as TableName;
}

/** A column of the service's own tables. For fixed texts alone. */
export function systemColumnName(text: string): ColumnName {
  return text as ColumnName;
}

/** The server's own table of users, which schemas and rules call `$users`. */
export const usersTable = systemTableName("_users");

/** The name in SQL of a table that a schema or a rule refers to. */
export function sqlTableName(table: TableName | "$users"): TableName {
  return table === "$users" ? usersTable : table;
}
