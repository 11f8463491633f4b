/** The active cell: row -1 is the head, column -1 the selection. */
export interface Cell {
  readonly row: number;
  readonly column: number;
}

/** How far keys can lead. */
export interface GridSize {
  readonly rows: number;
  readonly columns: number;
  /** How many rows are seen at once. */
  readonly page: number;
}

/** Where a key leads from a cell; null where it leads nowhere. */
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
