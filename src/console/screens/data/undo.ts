import { SvcError } from "../../../client/index.js";
import type { SchemaTable } from "../../../wire/schema-in-force.js";
import { keyLabel, keyOf } from "../../grid/row-key.js";
import { messageOf } from "../../parts/tell.js";
import type { TableRow } from "../../server/table-row.js";
import { texts } from "../../texts.js";
import { eachRow, someOf } from "./each-row.js";
import { haveSame, keepsHistory, restore, type Version, versionsOf } from "./save-change.js";

/** Takes back one's own write to a row. */
export interface Undo {
  /** The key of the row, as messages call it. */
  readonly label: string;
  /** Restores the row as it was before the write, and returns it. Throws where the row was written since. */
  readonly act: () => Promise<TableRow>;
}

/**
 * The versions that were made by taking a write back, by their numbers, each with the number of the older version that
 * it restored. Where one's own later write was taken back, the earlier one is the newest again, and can be, too.
 */
const restoredBy = new Map<number, number>();

const originOf = (seq: number) => restoredBy.get(seq) ?? seq;

/**
 * What takes back the write that has just left a row like this; undefined where the table keeps no history, or the row
 * has no key.
 */
export function undoOf(table: SchemaTable, left: TableRow): Undo | undefined {
  const key = keyOf(table, left);
  if (key === null || !keepsHistory(table)) return undefined;
  // The version is looked up at once: later, another write may have left the row with the same values.
  const written = versionsOfWrite(table, key, left);
  // The write is done, so it only matters that this failed where it is to be taken back.
  written.catch(() => {});
  const act = async () => {
    const [own, before] = await written;
    const [newest] = await versionsOf(table, key, 1);
    if (own === undefined || newest === undefined || originOf(newest.seq) !== originOf(own.seq))
      throw new Error(texts.data.changedSince);
    if (before === undefined) throw new SvcError(404, "not_found", texts.data.noVersion);
    const row = await restore(table, key, before.seq);
    const [made] = await versionsOfWrite(table, key, row).catch(() => []);
    if (made !== undefined) restoredBy.set(made.seq, originOf(before.seq));
    return row;
  };
  return { label: keyLabel(key), act };
}

/** The version that a write has just made, and the one before it; none where the row was written since. */
async function versionsOfWrite(
  table: SchemaTable,
  key: TableRow,
  left: TableRow,
): Promise<readonly Version[]> {
  const versions = await versionsOf(table, key, 2);
  const row = versions[0]?.row;
  return row && haveSame(Object.keys(row), row, left) ? versions : [];
}

/** What takes back the deletion of a row. */
export function undoOfDeletion(table: SchemaTable, key: TableRow): Undo {
  const act = async () => {
    const [newest, before] = await versionsOf(table, key, 2);
    if (before === undefined) throw new SvcError(404, "not_found", texts.data.noVersion);
    if (newest!.op !== "delete") throw new Error(texts.data.changedSince);
    return restore(table, key, before.seq);
  };
  return { label: keyLabel(key), act };
}

/**
 * Takes back several writes, and calls `onRow` with each row as it is then. Those that cannot be taken back are left
 * out; then it throws at the end, with a message that says which, and why.
 */
export async function undoAll(undos: readonly Undo[], onRow: (row: TableRow) => void): Promise<void> {
  const leftOut = await eachRow(undos, async ({ act }) => onRow(await act()), {
    reasonOf: ({ label }, error) => texts.data.notThis(label, messageOf(error)),
  });
  if (leftOut.length > 0) throw new Error(texts.data.notUndone(someOf(leftOut)));
}
