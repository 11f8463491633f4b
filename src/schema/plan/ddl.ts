import type { Column, ColumnDefault, OnDelete, Reference, Table } from "../../project/model.js";
import type { ColumnType } from "../../sqlite/column-type.js";
import { sqlTableName } from "../../sqlite/names.js";
import { quoteName, quoteText } from "../../sqlite/sql-tokens.js";
import { type IndexShape, indexName } from "../physical/index-shape.js";

/**
 * This file builds the statements that create and change the tables, indexes and triggers of svc.schema.yaml.
 * Expressions of the owner are put in parentheses; `fragmentProblem` has accepted them before.
 */

/** Properties of a table in the database that a rebuild keeps, although svc.schema.yaml does not express them. */
export interface Keepsakes {
  /** The SQL types of columns, by name. They decide the affinity if the table is not STRICT. */
  readonly declaredTypes: ReadonlyMap<string, string>;
  /** By column name; columns with the collation BINARY are left out. */
  readonly collations: ReadonlyMap<string, string>;
  readonly withoutRowid: boolean;
  readonly autoincrement: boolean;
  /** By column name, what its foreign key has after ON DELETE. */
  readonly foreignKeyClauses: ReadonlyMap<string, string>;
}

/** The `Keepsakes` of a new table. */
export const nothingKept: Keepsakes = {
  declaredTypes: new Map(),
  collations: new Map(),
  withoutRowid: false,
  autoincrement: false,
  foreignKeyClauses: new Map(),
};

/** `physicalName` is a temporary one while a table is rebuilt. */
export function createTable(table: Table, kept: Keepsakes = nothingKept, physicalName: string = table.name): string {
  const lines = [...table.columns.values()].map((column) => columnDefinition(column, table, kept));
  if (table.primaryKey.length > 0 && inlineKey(table, kept) === null)
    lines.push(`PRIMARY KEY (${table.primaryKey.map(quoteName).join(", ")})`);
  const options = [...(table.strict ? ["STRICT"] : []), ...(kept.withoutRowid ? ["WITHOUT ROWID"] : [])];
  const suffix = options.length > 0 ? ` ${options.join(", ")}` : "";
  return `CREATE TABLE ${quoteName(physicalName)} (\n  ${lines.join(",\n  ")}\n)${suffix}`;
}

/**
 * The column that is the whole primary key and is declared INTEGER. It needs PRIMARY KEY in its own definition, or
 * SQLite does not make it the rowid.
 */
export function inlineKey(table: Table, kept: Keepsakes): string | null {
  const [first, ...more] = table.primaryKey;
  if (first === undefined || more.length > 0) return null;
  const column = table.columns.get(first)!;
  return declaredType(column, kept).toUpperCase() === "INTEGER" ? first : null;
}

/** `table` is the table as it will be, with the new column. */
export function addColumn(table: Table, column: Column): string {
  return `ALTER TABLE ${quoteName(table.name)} ADD COLUMN ${columnDefinition(column, table, nothingKept)}`;
}

function columnDefinition(column: Column, table: Table, kept: Keepsakes): string {
  const collation = kept.collations.get(column.name);
  const parts = [quoteName(column.name), declaredType(column, kept)];
  if (inlineKey(table, kept) === column.name) parts.push(`PRIMARY KEY${kept.autoincrement ? " AUTOINCREMENT" : ""}`);
  if (column.notNull) parts.push("NOT NULL");
  if (collation !== undefined) parts.push(`COLLATE ${quoteName(collation)}`);
  if (column.default !== null) parts.push(`DEFAULT ${defaultSql(column.default)}`);
  if (column.check !== null) parts.push(`CHECK (${column.check})`);
  if (column.references !== null)
    parts.push(referencesClause(column.references), kept.foreignKeyClauses.get(column.name) ?? "");
  return parts.filter((part) => part !== "").join(" ");
}

/** The SQL type for each type of svc.schema.yaml. */
export const storageTypes: Record<ColumnType, string> = {
  integer: "INTEGER",
  boolean: "INTEGER",
  real: "REAL",
  text: "TEXT",
  json: "TEXT",
  blob: "BLOB",
};

function declaredType(column: Column, kept: Keepsakes): string {
  return kept.declaredTypes.get(column.name) ?? storageTypes[column.type];
}

/** To be used behind DEFAULT or as a value in a SELECT. */
export function defaultSql(value: ColumnDefault): string {
  if (value.kind === "sql") return `(${value.sql})`;
  switch (typeof value.value) {
    case "string":
      return quoteText(value.value);
    case "boolean":
      return value.value ? "1" : "0";
    default:
      return String(value.value);
  }
}

function referencesClause(reference: Reference): string {
  const action = reference.onDelete === "no_action" ? "" : ` ON DELETE ${actionSql(reference.onDelete)}`;
  return `REFERENCES ${quoteName(sqlTableName(reference.table))} (${quoteName(reference.column)})${action}`;
}

/** An action of a foreign key, as its clauses ON DELETE and ON UPDATE name it. */
export function actionSql(action: OnDelete): string {
  return action.replace("_", " ").toUpperCase();
}

/** `name` is made of the new names if the table or a column of the index is about to be renamed. */
export function createIndex(table: string, index: IndexShape, name: string = indexName(table, index)): string {
  const columns = index.columns.map((column) => quoteName(column.name) + (column.descending ? " DESC" : ""));
  const condition = index.where === null ? "" : ` WHERE (${index.where})`;
  const create = index.unique ? "CREATE UNIQUE INDEX" : "CREATE INDEX";
  return `${create} ${quoteName(name)} ON ${quoteName(table)} (${columns.join(", ")})${condition}`;
}

/** For an index that CREATE INDEX made. */
export function dropIndex(name: string): string {
  return `DROP INDEX ${quoteName(name)}`;
}

/** This also drops the table's triggers and indexes. */
export function dropTable(name: string): string {
  return `DROP TABLE ${quoteName(name)}`;
}

/** This also drops the view's triggers. */
export function dropView(name: string): string {
  return `DROP VIEW ${quoteName(name)}`;
}

/** `text` is the trigger's text in svc.schema.yaml: all that follows its name. */
export function createTrigger(name: string, text: string): string {
  return `CREATE TRIGGER ${quoteName(name)} ${text.trim()}`;
}

/** For a trigger of a table or a view. */
export function dropTrigger(name: string): string {
  return `DROP TRIGGER ${quoteName(name)}`;
}

/** SQLite refuses this if anything else mentions the column. */
export function dropColumn(table: string, column: string): string {
  return `ALTER TABLE ${quoteName(table)} DROP COLUMN ${quoteName(column)}`;
}

/** SQLite also changes the name in triggers, views and foreign keys that mention the table. */
export function renameTable(from: string, to: string): string {
  return `ALTER TABLE ${quoteName(from)} RENAME TO ${quoteName(to)}`;
}

/** SQLite also changes the name in indexes, triggers, views and foreign keys that mention the column. */
export function renameColumn(table: string, from: string, to: string): string {
  return `ALTER TABLE ${quoteName(table)} RENAME COLUMN ${quoteName(from)} TO ${quoteName(to)}`;
}
