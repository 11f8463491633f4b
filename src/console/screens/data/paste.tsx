import type { SchemaTable } from "../../../wire/schema-in-force.js";
import { confirm } from "../../parts/confirm.js";
import { messageOf, notify, notifyFailure } from "../../parts/notify.js";
import type { TableRow } from "../../server/table-row.js";
import { texts } from "../../texts.js";
import { eachRow, someOf } from "./each-row.js";
import { labelOf, type PastedChange, type PasteTarget, planPaste } from "./plan-paste.js";
import { keepsHistory, saveChange } from "./save-change.js";
import { type Undo, undoAll, undoOf } from "./undo.js";

/**
 * Writes pasted cells, each row as one change, and shows what was changed and what was not. Asks first if several rows
 * change, and writes no further row once that dialog is closed. `onRow` is called with each row after its change.
 */
export async function pasteInto(
  target: PasteTarget,
  cells: readonly (readonly string[])[],
  onRow: (row: TableRow) => void,
): Promise<void> {
  const { table } = target;
  const { changes, leftOut } = planPaste(target, cells);
  if (changes.length <= 1) return write(table, changes, leftOut, onRow);
  confirm({
    title: texts.paste.title(changes.length),
    text: (
      <>
        <p>{keepsHistory(table) ? texts.paste.kept : texts.paste.lost}</p>
        {leftOut.length > 0 && <p>{texts.paste.leftOut(someOf(leftOut))}</p>}
      </>
    ),
    action: texts.paste.action,
    isDangerous: !keepsHistory(table),
    act: (signal) => write(table, changes, [], onRow, signal),
  });
}

async function write(
  table: SchemaTable,
  changes: readonly PastedChange[],
  leftOut: readonly string[],
  onRow: (row: TableRow) => void,
  signal?: AbortSignal,
): Promise<void> {
  let saved = 0;
  const undos: Undo[] = [];
  const save = async ({ row, values }: PastedChange) => {
    const done = await saveChange(table, row, values);
    if (done.outcome === "conflict") throw new Error(texts.data.conflict);
    saved++;
    onRow(done.row);
    const undo = undoOf(table, done.row);
    if (undo) undos.push(undo);
  };
  const reasonOf = ({ row }: PastedChange, error: unknown) => texts.data.notThis(labelOf(table, row), messageOf(error));
  const missing = [...leftOut, ...(await eachRow(changes, save, { reasonOf, signal }))];
  const undo = { label: texts.app.undo, act: () => undoAll(undos, onRow) };
  if (saved > 0) notify(texts.paste.changed(saved), undos.length > 0 ? undo : undefined);
  if (missing.length > 0) notifyFailure(new Error(texts.paste.leftOut(someOf(missing))));
  else if (saved === 0) notify(texts.paste.nothing);
}
