import { SvcError } from "../../../client/index.js";
import type { SchemaTable } from "../../../wire/schema-in-force.js";
import { keyLabel, primaryKeyOf } from "../../grid/row-key.js";
import { messageOf } from "../../parts/notify.js";
import type { TableRow } from "../../server/table-row.js";
import { texts } from "../../texts.js";
import { eachRow, someOf } from "./each-row.js";
import { haveSame, keepsHistory, loadVersions, restoreVersion, type Version } from "./save-change.js";

/** Takes back one's own write to a row. */
export interface Undo {
  /** The row's key, as messages call it. */
  readonly label: string;
  /** Restores the row as it was before the write. Throws if the row was written since. */
  readonly act: () => Promise<TableRow>;
}

/**
 * Versions that were made by taking a write back, each with the older version that it restored. After one's own later
 * write was taken back, the earlier one is the newest again, and can be taken back, too.
 */
const restoredBy = new Map<number, number>();

const originOf = (seq: number) => restoredBy.get(seq) ?? seq;

/** Takes back the write that has just left a row like this; undefined if the table has no history or the row no key. */
export function undoOf(table: SchemaTable, left: TableRow): Undo | undefined {
  const key = primaryKeyOf(table, left);
  if (key === null || !keepsHistory(table)) return undefined;
  // At once: later, another write may have left the row with the same values.
  const written = versionsOfWrite(table, key, left);
  // The write is done: this failure only matters if it is to be taken back.
  written.catch(() => {});
  const act = async () => {
    const [own, before] = await written;
    const [newest] = await loadVersions(table, key, 1);
    if (own === undefined || newest === undefined || originOf(newest.seq) !== originOf(own.seq))
      throw new Error(texts.data.changedSince);
    if (before === undefined) throw new SvcError(404, "not_found", texts.data.noVersion);
    const row = await restoreVersion(table, key, before.seq);
    const [made] = await versionsOfWrite(table, key, row).catch(() => []);
    if (made !== undefined) restoredBy.set(made.seq, originOf(before.seq));
    return row;
  };
  return { label: keyLabel(key), act };
}

/** The version that a write has just made, and the one before it; none if the row was written since. */
async function versionsOfWrite(table: SchemaTable, key: TableRow, left: TableRow): Promise<readonly Version[]> {
  const versions = await loadVersions(table, key, 2);
  const row = versions[0]?.row;
  return row && haveSame(Object.keys(row), row, left) ? versions : [];
}

/** Takes back the deletion of a row. */
export function undoOfDeletion(table: SchemaTable, key: TableRow): Undo {
  const act = async () => {
    const [newest, before] = await loadVersions(table, key, 2);
    if (before === undefined) throw new SvcError(404, "not_found", texts.data.noVersion);
    if (newest!.op !== "delete") throw new Error(texts.data.changedSince);
    return restoreVersion(table, key, before.seq);
  };
  return { label: keyLabel(key), act };
}

/**
 * Takes back several writes, and calls `onRow` with each row as it is then. At the end it throws a message that says
 * which of them it could not take back, and why.
 */
export async function undoAll(undos: readonly Undo[], onRow: (row: TableRow) => void): Promise<void> {
  const leftOut = await eachRow(undos, async ({ act }) => onRow(await act()), {
    reasonOf: ({ label }, error) => texts.data.notThis(label, messageOf(error)),
  });
  if (leftOut.length > 0) throw new Error(texts.data.notUndone(someOf(leftOut)));
}
