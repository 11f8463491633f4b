import type { Cell } from "./grid-keys.js";

/**
 * The active cell with its row's id and its column's name, by which it is found again after rows were loaded anew or
 * columns hidden. `rowId` is null for the headings and a row without an id, `columnName` for the checkboxes.
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
 * The active cell where it is now. If its row or column is gone, it is the cell in its place, or the nearest one.
 * Returns the same object if nothing has changed.
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

/** The index of a row or column that was at `before`; -1 always stays the same. */
function indexOfSame(name: string | null, before: number, names: readonly (string | null)[]): number {
  if (before < 0 || (name !== null && names[before] === name)) return before;
  const found = name === null ? -1 : names.indexOf(name);
  return found >= 0 ? found : Math.min(before, names.length - 1);
}
