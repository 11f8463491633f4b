import type { Cell } from "./grid-keys.js";

/**
 * The active cell with the id of its row and the name of its column, by which the cell is found again after the rows
 * were loaded anew, or columns were hidden. `rowId` is null in the row of headings and for a row without an id, and
 * `columnName` in the column of checkboxes.
 */
export interface ActiveCell extends Cell {
  readonly rowId: string | null;
  readonly columnName: string | null;
}

/** The cell at a position, as the active one. */
export function activeAt(
  { row, column }: Cell,
  rowIds: readonly (string | null)[],
  columnNames: readonly string[],
): ActiveCell {
  return { row, column, rowId: rowIds[row] ?? null, columnName: columnNames[column] ?? null };
}

/**
 * The active cell where it is now. Where its row or its column is gone, it is the cell that has come to its place, or
 * the nearest one. Returns the same object where nothing has changed.
 */
export function foundAgain(
  active: ActiveCell,
  rowIds: readonly (string | null)[],
  columnNames: readonly string[],
): ActiveCell {
  const found = activeAt(
    {
      row: indexOfSame(active.rowId, active.row, rowIds),
      column: indexOfSame(active.columnName, active.column, columnNames),
    },
    rowIds,
    columnNames,
  );
  const isSame =
    found.row === active.row &&
    found.column === active.column &&
    found.rowId === active.rowId &&
    found.columnName === active.columnName;
  return isSame ? active : found;
}

/** The index of a row or a column that was at index `before`; -1, before the first one, always stays the same. */
function indexOfSame(name: string | null, before: number, names: readonly (string | null)[]): number {
  if (before < 0 || (name !== null && names[before] === name)) return before;
  const found = name === null ? -1 : names.indexOf(name);
  return found >= 0 ? found : Math.min(before, names.length - 1);
}
