import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import type { SchemaColumn } from "../../wire/schema-in-force.js";
import type { Cell } from "./grid-keys.js";
import type { GridProps } from "./grid-props.js";
import type { Editing } from "./grid-row.js";
import { isPreview } from "./value.js";

/** The editing of a grid's cell in place. */
export interface CellEditing {
  /** Null if no cell is being edited. */
  readonly current: Editing | null;
  /** The index of the row; -1 if none is being edited. */
  readonly row: number;
  /** Edits a cell, or opens its row next to the grid if its value cannot be edited in place. */
  readonly begin: (cell: Cell, typed: string | null) => void;
  readonly save: (value: unknown) => Promise<void>;
  readonly cancel: () => void;
}

/** Edits one cell at a time. `frame` is the element that takes the keys. */
export function useEditing(
  { columns, rows, idOf, isEditable, onOpen, onSave }: GridProps,
  rowIds: readonly (string | null)[],
  frame: RefObject<HTMLDivElement | null>,
): CellEditing {
  const [editing, setEditing] = useState<Editing | null>(null);
  const editedRow = editing === null ? -1 : rowIds.indexOf(idOf(editing.row));
  const editedColumn = columns.find(({ name }) => name === editing?.column);
  // The editing ends if its row or its column is gone.
  const isGone = editing !== null && (editedRow < 0 || editedColumn === undefined);
  useLayoutEffect(() => {
    if (isGone) setEditing(null);
  }, [isGone]);
  // When the editing ends, the keyboard goes on in the grid, unless something else than the field had the focus.
  useLayoutEffect(() => {
    if (editing === null) return;
    return () => {
      if (document.activeElement === document.body) frame.current?.focus();
    };
  }, [editing]);
  const begin = (cell: Cell, typed: string | null) => {
    const column = columns[cell.column];
    const row = rows[cell.row];
    if (column === undefined || row === undefined) return;
    const isInPlace = isEditable(column) && rowIds[cell.row] !== null && !isLarge(column, row[column.name]);
    if (!isInPlace) return onOpen(cell.row, column.name);
    if (column.type === "boolean" && typed !== null) return;
    setEditing({ row, column: column.name, typed });
  };
  const save = async (value: unknown) => {
    await onSave(editing!.row, editedColumn!, value);
    // Meanwhile the user may have left this cell by Escape, and be editing another one.
    setEditing((current) => (current === editing ? null : current));
  };
  return { current: editing, row: editedRow, begin, save, cancel: () => setEditing(null) };
}

const lineLengthMax = 400;

/** Whether a value is too large, or of the wrong type, for a cell's single line. It is edited next to the grid. */
function isLarge({ type }: SchemaColumn, value: unknown): boolean {
  if (isPreview(value) || type === "json" || type === "blob") return true;
  return typeof value === "string" && (value.length > lineLengthMax || value.includes("\n"));
}
