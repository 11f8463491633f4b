import { useRef, useState } from "preact/hooks";
import type { SchemaColumn, SchemaTable } from "../../../wire/schema-in-force.js";
import { rowId } from "../../grid/row-key.js";
import type { LoadedRows } from "../../grid/use-rows.js";
import { notify } from "../../parts/notify.js";
import type { As } from "../../server/as.js";
import type { TableRow } from "../../server/table-row.js";
import { texts } from "../../texts.js";
import type { Conflict } from "./conflict-dialog.js";
import { saveChange } from "./save-change.js";
import { undoOf } from "./undo.js";

/** What changes rows that the grid has loaded. */
export interface RowChanges {
  /** Null if no other change is in the way. */
  readonly conflict: Conflict | null;
  /** Saves a value. If somebody else has changed it since `before` was loaded, there is a conflict. */
  readonly save: (before: TableRow, column: SchemaColumn, value: unknown) => Promise<void>;
  /** Shows a row as it was saved, and offers to undo that. */
  readonly showSaved: (row: TableRow) => void;
  /** Shows a row as it is now. */
  readonly replace: (row: TableRow) => void;
}

/** Changes rows of a table, and shows them. `as` is the caller as whom the rows are viewed. */
export function useRowChanges(table: SchemaTable, as: As | null, setRows: LoadedRows["setRows"]): RowChanges {
  const [conflict, setConflict] = useState<Conflict | null>(null);
  const seenBy = JSON.stringify(as);
  const seenByNow = useRef(seenBy);
  seenByNow.current = seenBy;
  const replace = (changed: TableRow) => {
    // A write or an undo may end when another caller is chosen, who may not see all of this row.
    if (seenByNow.current !== seenBy) return;
    const id = rowId(table, changed);
    setRows((all) => all.map((row) => (rowId(table, row) === id ? changed : row)));
  };
  const showSaved = (row: TableRow) => {
    replace(row);
    const undo = undoOf(table, row);
    notify(texts.data.saved, undo && { label: texts.app.undo, act: async () => replace(await undo.act()) });
  };
  const save = async (before: TableRow, column: SchemaColumn, value: unknown) => {
    const mine = { [column.name]: value };
    const done = await saveChange(table, before, mine);
    if (done.outcome === "saved") return showSaved(done.row);
    const { theirs } = done;
    const onKeep = () => {
      replace(theirs);
      setConflict(null);
    };
    const onOverwrite = async () => {
      setConflict(null);
      await save(theirs, column, value);
    };
    setConflict({ mine, theirs, onOverwrite, onKeep, onClose: onKeep });
  };
  return { conflict, save, showSaved, replace };
}
