import { SvcError, SvcPreconditionError } from "../../../client/index.js";
import { keyOf } from "../../grid/row-key.js";
import { isPreview } from "../../grid/value.js";
import { ask } from "../../server/ask.js";
import type { Row, TableShape } from "../../server/shapes.js";
import { previewHeader, tableOf } from "../../server/tables.js";
import { texts } from "../../texts.js";

/**
 * What `saveChange` has done. `saved`: the change is written. `conflict`: nothing is written, because somebody else has
 * changed the row since it was shown, and `theirs` is the row as it is now.
 */
export type Saved =
  | { readonly outcome: "saved"; readonly row: Row }
  | { readonly outcome: "conflict"; readonly theirs: Row };

/**
 * Changes columns of a row, unless somebody else has changed the row since it was shown. Where the table has a column
 * `managed: version`, the server checks this. Otherwise the columns to be changed are compared with the row as it is
 * now. With `isForced` nothing is checked, so the change of the other person is overwritten.
 */
export async function saveChange(
  table: TableShape,
  shown: Row,
  changes: Row,
  isForced: boolean,
): Promise<Saved> {
  const key = keyOf(table, shown);
  if (key === null) throw new Error(texts.data.noKey);
  const rows = tableOf(table.name, { as: null, isPreviewed: true });
  const version = table.columns.find(({ managed }) => managed === "version")?.name;
  if (!isForced && version === undefined) {
    const now = await rows.get(key);
    if (Object.keys(changes).some((name) => !isSame(now[name], shown[name])))
      return { outcome: "conflict", theirs: now };
  }
  const ifMatch = isForced || version === undefined ? null : (shown[version] as number);
  try {
    const row = await (ifMatch === null ? rows.update(key, changes) : rows.update(key, changes, { ifMatch }));
    return { outcome: "saved", row };
  } catch (error) {
    if (!(error instanceof SvcPreconditionError)) throw error;
    return { outcome: "conflict", theirs: await rows.get(key) };
  }
}

/**
 * Whether two values of a column are equal, as far as that is known. Where only the beginnings of both were sent, these
 * and the sizes are compared. Where only one was sent whole, they count as equal.
 */
function isSame(a: unknown, b: unknown): boolean {
  if (isPreview(a) !== isPreview(b)) return true;
  return JSON.stringify(a) === JSON.stringify(b);
}

/**
 * A version in the history of a row: which write made it, when and by whom, and the row after the write; null for a
 * deleted one.
 */
export interface Version {
  readonly seq: number;
  readonly at: string;
  readonly op: "insert" | "update" | "delete";
  readonly by: { readonly kind: string; readonly id: string | null } | null;
  readonly changed?: readonly string[];
  readonly row: Row | null;
}

/** Whether the table keeps a history of its rows, so that older versions can be restored. */
export const keepsHistory = ({ history }: TableShape) => history !== "none";

/** Loads the last `limit` versions of a row, the newest first. Of long values only the beginnings are loaded. */
export async function versionsOf(
  table: TableShape,
  key: Row,
  limit: number,
  signal?: AbortSignal,
): Promise<readonly Version[]> {
  const where = Object.entries(key).map(([name, value]) => [`where[${name}]`, String(value)] as const);
  const parameters = new URLSearchParams([
    ...where.map(([name, value]) => [name, value]),
    ["limit", String(limit)],
  ]);
  return ask("GET", `/data/${table.name}/_svc/history?${parameters}`, undefined, {
    signal,
    headers: previewHeader,
  });
}

/**
 * Has the server restore a version of a row. Only its number is sent, because the server has the whole values, of which
 * the console may have loaded only the beginnings.
 */
export function restore(table: TableShape, key: Row, seq: number): Promise<Row> {
  return ask("POST", `/data/${table.name}/_svc/restore`, { key, seq }, { headers: previewHeader });
}

/**
 * A function that undoes the last change of a row, by restoring the version before it; undefined where the table keeps
 * no history, or the row has no key.
 */
export function undoChange(table: TableShape, row: Row): (() => Promise<Row>) | undefined {
  const key = keyOf(table, row);
  if (key === null || !keepsHistory(table)) return undefined;
  return () => restoreBefore(table, key);
}

/**
 * Undoes the last write to a row: restores the second newest version. Throws SvcError `not_found` where the history has
 * none.
 */
export async function restoreBefore(table: TableShape, key: Row): Promise<Row> {
  const before = (await versionsOf(table, key, 2))[1];
  if (before === undefined) throw new SvcError(404, "not_found", texts.data.noVersion);
  return restore(table, key, before.seq);
}
