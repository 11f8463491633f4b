import { SvcError, SvcPreconditionError } from "../../../client/index.js";
import { keyOf } from "../../grid/row-key.js";
import { isPreview } from "../../grid/value.js";
import { ask } from "../../server/ask.js";
import type { Row, TableShape } from "../../server/shapes.js";
import { previewHeader, tableOf } from "../../server/tables.js";
import { texts } from "../../texts.js";

/** A change was written, or somebody else has changed the row meanwhile, which `theirs` then is. */
export type Saved =
  | { readonly outcome: "saved"; readonly row: Row }
  | { readonly outcome: "conflict"; readonly theirs: Row };

/**
 * Changes columns of a row as it was shown. Where the table has versions the server decides whether it still is that row; else
 * the columns that are changed are compared with what is there now. `isForced` writes over what somebody else has written.
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

/** Whether two values are the same as far as they were sent. */
function isSame(a: unknown, b: unknown): boolean {
  if (isPreview(a) !== isPreview(b)) return true;
  return JSON.stringify(a) === JSON.stringify(b);
}

/** An entry of a row's history. */
export interface Version {
  readonly seq: number;
  readonly at: string;
  readonly op: "insert" | "update" | "delete";
  readonly by: { readonly kind: string; readonly id: string | null } | null;
  readonly changed?: readonly string[];
  readonly row: Row | null;
}

/** Whether older versions of a table's rows can be written back. */
export const keepsHistory = ({ history }: TableShape) => history !== "none";

/** The versions of a row, the newest first, with long values by their beginnings. */
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

/** Writes a version of a row back, which the server has whole. */
export function restore(table: TableShape, key: Row, seq: number): Promise<Row> {
  return ask("POST", `/data/${table.name}/_svc/restore`, { key, seq }, { headers: previewHeader });
}

/** What takes the last change of a row back, where the table keeps history; undefined where it does not. */
export function undoChange(table: TableShape, row: Row): (() => Promise<Row>) | undefined {
  const key = keyOf(table, row);
  if (key === null || !keepsHistory(table)) return undefined;
  return () => restoreBefore(table, key);
}

/** Writes back the version before the newest. */
export async function restoreBefore(table: TableShape, key: Row): Promise<Row> {
  const before = (await versionsOf(table, key, 2))[1];
  if (before === undefined) throw new SvcError(404, "not_found", texts.data.noVersion);
  return restore(table, key, before.seq);
}
