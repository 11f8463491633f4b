/** A position in the grid. Row -1 is the row of headings, column -1 that of the checkboxes that select rows. */
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

/** What a key does. `typed` is the character that begins to replace the cell's text; null to only open the field. */
export type KeyAction =
  | { readonly kind: "move"; readonly to: Cell }
  | { readonly kind: "edit"; readonly typed: string | null }
  | { readonly kind: "sort" | "open" | "select" | "copy" };

/** A key that was pressed, and which keys were held meanwhile. */
export interface KeyPress {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/** What a key does while a cell is active; null for nothing. */
export function keyAction(press: KeyPress, active: Cell, size: GridSize): KeyAction | null {
  const { key, shiftKey } = press;
  const isControl = press.ctrlKey || press.metaKey;
  const hasColumn = active.column >= 0;
  const to = movedBy(key, isControl, active, size);
  if (to !== null) return { kind: "move", to };
  if (key === "Enter" && active.row < 0 && hasColumn) return { kind: "sort" };
  if (key === "Enter" && shiftKey) return { kind: "open" };
  if (key === "Enter" || key === "F2") return hasColumn ? { kind: "edit", typed: null } : { kind: "open" };
  if (key === " ") return { kind: "select" };
  if (key === "c" && isControl && hasColumn) return { kind: "copy" };
  const isTyped = key.length === 1 && !isControl && !press.altKey && active.row >= 0;
  return isTyped ? { kind: "edit", typed: key } : null;
}

/** The cell to which a key moves; null for a key that does not move. */
function movedBy(key: string, isControl: boolean, { row, column }: Cell, size: GridSize): Cell | null {
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
