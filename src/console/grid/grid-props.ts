import type { SchemaColumn } from "../../wire/schema-in-force.js";
import type { TableRow } from "../server/table-row.js";
import type { Cell } from "./grid-keys.js";

/** What a grid shows, and what it calls when the user does something. */
export interface GridProps {
  readonly label: string;
  readonly columns: readonly SchemaColumn[];
  readonly rows: readonly TableRow[];
  /** How many rows the list has, loaded or not; null if that is not known. */
  readonly total: number | null;
  readonly sort: readonly string[];
  /** By this id a row is found again after rows were loaded anew; null for a row that has none. */
  readonly idOf: (row: TableRow) => string | null;
  /** The ids of the selected rows. */
  readonly selected: ReadonlySet<string>;
  readonly isSelectable: boolean;
  readonly isEditable: (column: SchemaColumn) => boolean;
  readonly onSort: (column: string, isAdded: boolean) => void;
  readonly onSelect: (ids: ReadonlySet<string>) => void;
  /** Called to show a row next to the grid. `column` is the one to edit there; null for none. */
  readonly onOpen: (row: number, column: string | null) => void;
  /** `row` is the row as it was when the user began to edit. */
  readonly onSave: (row: TableRow, column: SchemaColumn, value: unknown) => Promise<void>;
  /** Called when several cells are pasted; the first comes to `at`. */
  readonly onPaste: (at: Cell, cells: readonly (readonly string[])[]) => void;
  /** Called when the user has scrolled near the end of the loaded rows. */
  readonly onEnd: () => void;
}
