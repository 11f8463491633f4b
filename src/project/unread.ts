import type { Schema, Table, UnreadTable } from "./model.js";
import { plainTable } from "./plain-table.js";

/** Whether svc.schema.yaml may have an unread table of that name, which then cannot be reported as unknown. */
export function mayHaveTable({ unread }: Schema, name: string): boolean {
  return unread === "everything" || (unread?.has(name) ?? false);
}

/** Whether the table may have an unread column of that name, which then cannot be reported as unknown. */
export function mayHaveColumn(schema: Schema, table: string, column: string): boolean {
  const unread = unreadColumns(schema, table);
  return unread === "all" || unread.has(column);
}

const none: ReadonlySet<string> = new Set();

/** The columns of a table that could not be read; `all` if any name could be one. */
export function unreadColumns({ unread }: Schema, table: string): UnreadTable["columns"] {
  return unread === "everything" ? "all" : (unread?.get(table)?.columns ?? none);
}

/** Whether the whole table could be read, so that its keys, uniqueness and kind are known. */
export function isWhollyRead({ unread }: Schema, table: string): boolean {
  return unread !== "everything" && !(unread?.has(table) ?? false);
}

/** The columns that a message about an unknown column may suggest: first those that could be read, then the others. */
export function suggestedColumns(schema: Schema, { name, columns }: Table): readonly Iterable<string>[] {
  const unread = unreadColumns(schema, name);
  return [columns.keys(), unread === "all" ? none : unread];
}

/** Takes the place of a table of which nothing could be read. */
export function unreadTable(name: string): Table {
  return plainTable(name as Table["name"], new Map(), []);
}
