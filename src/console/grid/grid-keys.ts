/**
 * The position of a cell in the grid. Row -1 is the row of headings, column -1 the column of checkboxes by which rows
 * are selected.
 */
export interface Cell {
  readonly row: number;
  readonly column: number;
}

/** The size of a grid, in which keys move the active cell. */
export interface GridSize {
  readonly rows: number;
  readonly columns: number;
  /** How many rows PageUp and PageDown move: about as many as are in view. */
  readonly page: number;
}

/** The cell to which a key moves from the given one; null for a key that does not move. */
export function movedBy(key: string, isControl: boolean, { row, column }: Cell, size: GridSize): Cell | null {
  const [lastRow, lastColumn] = [size.rows - 1, size.columns - 1];
  const at = (toRow: number, toColumn: number): Cell => ({
    row: Math.max(-1, Math.min(lastRow, toRow)),
    column: Math.max(-1, Math.min(lastColumn, toColumn)),
  });
  switch (key) {
    case "ArrowUp":
      return at(row - 1, column);
    case "ArrowDown":
      return at(row + 1, column);
    case "ArrowLeft":
      return at(row, column - 1);
    case "ArrowRight":
      return at(row, column + 1);
    case "Home":
      return isControl ? at(0, 0) : at(row, 0);
    case "End":
      return isControl ? at(lastRow, lastColumn) : at(row, lastColumn);
    case "PageUp":
      return at(Math.max(0, row - size.page), column);
    case "PageDown":
      return at(row + size.page, column);
    default:
      return null;
  }
}
