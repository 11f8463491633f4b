import type { Schema, Table, UnreadTable } from "./model.js";
import { plainTable } from "./plain-table.js";

/**
 * Whether svc.schema.yaml may have a table of that name which could not be read, so that the table cannot be reported
 * as unknown.
 */
export function mayHaveTable({ unread }: Schema, name: string): boolean {
  return unread === "everything" || (unread?.has(name) ?? false);
}

/**
 * Whether the table in svc.schema.yaml may have a column of that name which could not be read, so that the column
 * cannot be reported as unknown.
 */
export function mayHaveColumn(schema: Schema, table: string, column: string): boolean {
  const unread = unreadColumns(schema, table);
  return unread === "all" || unread.has(column);
}

const none: ReadonlySet<string> = new Set();

/**
 * The names of the columns of the given table that could not be read; `all` where nothing is known of its columns, so
 * that any name could be one.
 */
export function unreadColumns({ unread }: Schema, table: string): UnreadTable["columns"] {
  return unread === "everything" ? "all" : (unread?.get(table)?.columns ?? none);
}

/**
 * Whether everything that svc.schema.yaml says of the table could be read, so that its keys, uniqueness and kind are
 * known.
 */
export function isWhollyRead({ unread }: Schema, table: string): boolean {
  return unread !== "everything" && !(unread?.has(table) ?? false);
}

/**
 * Two lists with the names of the table's columns that a message about an unknown column may suggest: first of those
 * that could be read, then of those that could not.
 */
export function columnNames(schema: Schema, { name, columns }: Table): readonly Iterable<string>[] {
  const unread = unreadColumns(schema, name);
  return [columns.keys(), unread === "all" ? none : unread];
}

/** A table without columns, which takes the place of a table of svc.schema.yaml of which nothing could be read. */
export function unreadTable(name: string): Table {
  return plainTable(name as Table["name"], new Map(), []);
}
