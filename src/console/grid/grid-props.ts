import type { SchemaColumn } from "../../wire/schema-in-force.js";
import type { TableRow } from "../server/table-row.js";
import type { Cell } from "./grid-keys.js";

/** What a grid shows, and the functions that it calls when the user does something in it. */
export interface GridProps {
  readonly label: string;
  readonly columns: readonly SchemaColumn[];
  readonly rows: readonly TableRow[];
  /** How many rows the list has, with those that are not loaded yet; null where that is not known. */
  readonly total: number | null;
  readonly sort: readonly string[];
  /** The id by which a row is found again when the rows were loaded anew; null for a row that has none. */
  readonly idOf: (row: TableRow) => string | null;
  /** The ids of the selected rows. */
  readonly selected: ReadonlySet<string>;
  readonly isSelectable: boolean;
  readonly isEditable: (column: SchemaColumn) => boolean;
  readonly onSort: (column: string, isAdded: boolean) => void;
  readonly onSelect: (ids: ReadonlySet<string>) => void;
  /**
   * Called to show a row beside the grid with all its columns. `column` is the column that the user wants to edit
   * there; null for none.
   */
  readonly onOpen: (row: number, column: string | null) => void;
  /** Called to change a value. `row` is the row as it was when the user began to edit. */
  readonly onSave: (row: TableRow, column: SchemaColumn, value: unknown) => Promise<void>;
  /** Called when several cells are pasted, with the cell on which the first of them comes. */
  readonly onPaste: (at: Cell, cells: readonly (readonly string[])[]) => void;
  /** Called when the user has scrolled near the end of the rows that are loaded, so that more are loaded. */
  readonly onEnd: () => void;
}
