import { type ColumnName, columnName, tableName } from "../sqlite/names.js";
import { managedDefault } from "./managed.js";
import type { Column, ColumnDefault, Index, Reference, Table } from "./model.js";
import type { ColumnSource, TableSource } from "./schema.js";

/** All names have to be valid, and lists may name only columns that the table has. */
export function tableFromSource(name: string, source: TableSource): Table {
  const primaryKey = (source.primary_key ?? markedKey(source)).map(columnName);
  const columns = [...source.columns].map(
    ([key, column]) => [key, columnOf(columnName(key), column, primaryKey, source.strict)] as const,
  );
  const inlineUnique = [...source.columns].filter(([, column]) => column.unique).map(([key]) => [columnName(key)]);
  return {
    name: tableName(name),
    columns: new Map(columns),
    primaryKey,
    unique: [...inlineUnique, ...source.unique.map((list) => list.map(columnName))],
    indexes: source.indexes.map(indexOf),
    search: (source.search?.columns ?? []).map(columnName),
    searchTokenizer: source.search?.tokenize ?? "unicode61",
    triggers: source.triggers,
    historyDays: daysOf(source.history),
    strict: source.strict,
    virtual: source.virtual,
    renamedFrom: source.renamed_from ?? null,
  };
}

function columnOf(name: ColumnName, source: ColumnSource, key: readonly ColumnName[], strict: boolean): Column {
  return {
    name,
    type: source.type,
    // SQLite allows NULL in primary keys for historical reasons. A pulled table that is not STRICT keeps what it
    // declares.
    notNull: source.not_null || (strict && key.includes(name)),
    default:
      source.managed === undefined
        ? defaultOf(source.default, source.type)
        : managedDefault(source.managed, source.type),
    check: source.check ?? null,
    references: source.references === undefined ? null : referenceOf(source.references),
    managed: source.managed ?? null,
    renamedFrom: source.renamed_from ?? null,
  };
}

function defaultOf(source: ColumnSource["default"], type: Column["type"]): ColumnDefault | null {
  if (source === undefined) return null;
  if (typeof source === "object") return { kind: "sql", sql: source.sql };
  const value = typeof source === "bigint" && type === "real" ? Number(source) : source;
  return { kind: "literal", value };
}

function referenceOf(source: NonNullable<ColumnSource["references"]>): Reference {
  const toUsers = source.table === "$users";
  return {
    table: toUsers ? "$users" : (source.table as Reference["table"]),
    column: (source.column ?? (toUsers ? "id" : "")) as ColumnName,
    onDelete: source.on_delete,
  };
}

function indexOf(source: TableSource["indexes"][number]): Index {
  return {
    columns: source.columns.map((column) => ({
      name: columnName(withoutDirection(column)),
      descending: column.startsWith("-"),
    })),
    unique: source.unique,
    where: source.where ?? null,
  };
}

/** For how many days changes are kept: Infinity for `forever`, null for `none` and without `history:`. */
export function daysOf(history: TableSource["history"]): number | null {
  if (history === undefined || history === "none") return null;
  return history === "forever" ? Number.POSITIVE_INFINITY : Number.parseInt(history, 10);
}

/** The columns that are marked `primary_key: true`. */
export function markedKey(source: TableSource): string[] {
  return [...source.columns].filter(([, column]) => column.primary_key).map(([name]) => name);
}

/** The column of an entry of an index: `-name` means the column `name` in descending order. */
export function withoutDirection(column: string): string {
  return column.replace(/^-/, "");
}
