/**
 * Names that came out of a parsed schema. Nothing else makes one, so a caller's string never reaches SQL text as an
 * identifier.
 */
declare const brand: unique symbol;
export type TableName = string & { readonly [brand]: "TableName" };
export type ColumnName = string & { readonly [brand]: "ColumnName" };

/** Interface, section 3: at most 63 characters, and `sqlite_` is SQLite's own. */
const pattern = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;

export function isName(text: string): boolean {
  return pattern.test(text) && !/^sqlite_/i.test(text);
}

/** For `project/schema.ts` and `schema/introspect.ts` alone. */
export function tableName(text: string): TableName {
  return checked(text) as TableName;
}

/** For `project/schema.ts` and `schema/introspect.ts` alone. */
export function columnName(text: string): ColumnName {
  return checked(text) as ColumnName;
}

function checked(text: string): string {
  if (!isName(text)) throw new Error(`not a name: ${JSON.stringify(text)}`);
  return text;
}

/** The server's own tables begin with `_`, which no name of a project does. For fixed texts alone. */
export function systemTableName(text: string): TableName {
  return text as TableName;
}

/** A column of the server's own tables. For fixed texts alone. */
export function systemColumnName(text: string): ColumnName {
  return text as ColumnName;
}

/** The server's own table of users, which schemas and rules call `$users`. */
export const usersTable = systemTableName("_users");

/** The name in SQL of a table that a schema or a rule refers to. */
export function sqlTableName(table: TableName | "$users"): TableName {
  return table === "$users" ? usersTable : table;
}
