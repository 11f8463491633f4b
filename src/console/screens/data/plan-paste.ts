import type { SchemaColumn, SchemaTable } from "../../../wire/schema-in-force.js";
import { keyLabel, primaryKeyOf } from "../../grid/row-key.js";
import { isPreview, parseValue } from "../../grid/value.js";
import type { TableRow } from "../../server/table-row.js";
import { texts } from "../../texts.js";

/** Where cells are pasted: the columns and the rows that are there, from the first cell on. */
export interface PasteTarget {
  readonly table: SchemaTable;
  readonly columns: readonly SchemaColumn[];
  readonly rows: readonly TableRow[];
  readonly isWritable: (column: SchemaColumn) => boolean;
}

/** The change of one row by pasted cells. */
export interface PastedChange {
  readonly row: TableRow;
  readonly values: TableRow;
}

/** What pasting cells would change, and texts that say which cells cannot be written, and why. */
export interface PastePlan {
  readonly changes: readonly PastedChange[];
  readonly leftOut: readonly string[];
}

/**
 * A value that a row has already is no change. An empty cell is NULL if the column may be NULL, but an empty text in a
 * column of texts.
 */
export function planPaste(target: PasteTarget, cells: readonly (readonly string[])[]): PastePlan {
  const { table, columns, rows, isWritable } = target;
  const width = cells.reduce((most, line) => Math.max(most, line.length), 0);
  const covered = columns.slice(0, width);
  const readOnly = covered.filter((column) => !isWritable(column)).map(({ name }) => name);
  const leftOut = [
    ...(cells.length > rows.length ? [texts.paste.rowsBelow(cells.length - rows.length)] : []),
    ...(width > columns.length ? [texts.paste.extraColumns(width - columns.length)] : []),
    ...(readOnly.length > 0 ? [texts.paste.readOnly(readOnly.join(", "))] : []),
  ];
  const changes: PastedChange[] = [];
  for (const [i, row] of rows.slice(0, cells.length).entries()) {
    const values: Record<string, unknown> = {};
    for (const [j, column] of covered.entries()) {
      const text = cells[i]![j];
      if (text === undefined || !isWritable(column)) continue;
      const parsed = pastedValue(column, text, row[column.name]);
      if ("problem" in parsed) leftOut.push(texts.paste.cell(column.name, labelOf(table, row), parsed.problem));
      else if (JSON.stringify(parsed.value) !== JSON.stringify(row[column.name])) values[column.name] = parsed.value;
    }
    if (Object.keys(values).length > 0) changes.push({ row, values });
  }
  return { changes, leftOut };
}

/**
 * The value of a pasted text, or why it is not written. A value of which only the beginning is loaded is not replaced,
 * because somebody else may have changed the rest of it unseen.
 */
function pastedValue(
  { type, not_null: isNeeded }: SchemaColumn,
  text: string,
  present: unknown,
): { readonly value: unknown } | { readonly problem: string } {
  if (isPreview(present)) return { problem: texts.paste.notWhole };
  if (text === "" && type !== "text" && !isNeeded) return { value: null };
  // Spreadsheets copy booleans in capitals.
  const parsed = parseValue(type, type === "boolean" ? text.toLowerCase() : text);
  return "problem" in parsed ? { problem: texts.values.problems[parsed.problem] } : parsed;
}

/** The name by which messages call a row: its key, or else the table. */
export function labelOf(table: SchemaTable, row: TableRow): string {
  const key = primaryKeyOf(table, row);
  return key === null ? table.name : keyLabel(key);
}
