import type { Schema, Table, UnreadTable } from "./model.js";
import { plainTable } from "./plain-table.js";

/** Whether a table that is not among those of the schema may be one nevertheless. */
export function mayHaveTable({ unread }: Schema, name: string): boolean {
  return unread === "everything" || (unread?.has(name) ?? false);
}

/** Whether a column that is not among those of the table may be one nevertheless. */
export function mayHaveColumn(schema: Schema, table: string, column: string): boolean {
  const unread = unreadColumns(schema, table);
  return unread === "all" || unread.includes(column);
}

/** Names of columns of the table that could not be read. */
export function unreadColumns({ unread }: Schema, table: string): UnreadTable["columns"] {
  return unread === "everything" ? "all" : (unread?.get(table)?.columns ?? []);
}

/** Whether keys, uniqueness and kind of the table are what the schema says they are. */
export function isWhollyRead({ unread }: Schema, table: string): boolean {
  return unread !== "everything" && !(unread?.has(table) ?? false);
}

/** All names of the table that a problem may suggest. */
export function columnNames(schema: Schema, { name, columns }: Table): readonly string[] {
  const unread = unreadColumns(schema, name);
  return [...columns.keys(), ...(unread === "all" ? [] : unread)];
}

/** In the place of a table of which nothing could be read. */
export function unreadTable(name: string): Table {
  return plainTable(name as Table["name"], new Map(), []);
}
