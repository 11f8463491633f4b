import type { Column, Table } from "../../project/model.js";
import { rowSeparator } from "../sql/expansions.js";
import { finishKey, finishRows } from "../sql/finish-rows.js";

/**
 * Writes the changes by which a client's copy gets the rows of a page (docs/sync.md). `rows` is the text of the rows,
 * each with a line break and its key after it, and with `rowSeparator` between rows. `name`: `ListRequest.copiedAs`.
 */
export async function copiedRows(
  rows: string,
  name: string,
  table: Table,
  output: readonly Column[],
): Promise<readonly string[]> {
  if (rows === "") return [];
  const columns = [...table.columns.values()];
  const changes: string[] = [];
  for (const each of rows.split(rowSeparator)) {
    const [row, key] = each.split("\n");
    const finished = finishRows(row!, output);
    const shown = finished instanceof Promise ? await finished : finished;
    changes.push(`{"table":${JSON.stringify(name)},"op":"insert","key":${finishKey(key!, columns)},"row":${shown}}`);
  }
  return changes;
}
