import { SvcPreconditionError } from "../../../client/index.js";
import type { SchemaTable } from "../../../wire/schema-in-force.js";
import { primaryKeyOf } from "../../grid/row-key.js";
import type { As } from "../../server/as.js";
import { requestData } from "../../server/request-data.js";
import type { TableRow } from "../../server/table-row.js";
import { clientTable, previewHeader } from "../../server/tables.js";
import { texts } from "../../texts.js";

/**
 * What `saveChange` has done. `conflict`: nothing is written, because the row was changed since it was shown. `theirs`
 * is the row as it is now, and `whole` has those of its long values that were compared whole. With both, somebody who
 * has seen what it overwrites can try the change again.
 */
export type Saved =
  | { readonly outcome: "saved"; readonly row: TableRow }
  | { readonly outcome: "conflict"; readonly theirs: TableRow; readonly whole: TableRow };

/**
 * Changes columns of a row, unless somebody else has changed the row since it was shown. If the table has a column
 * `managed: version`, the server checks this. Otherwise the columns are compared with the row as it is now.
 *
 * `shown` is a row as lists show it, with only the beginnings of long values. `whole` has those shown whole.
 */
export async function saveChange(
  table: SchemaTable,
  shown: TableRow,
  changes: TableRow,
  whole: TableRow = {},
): Promise<Saved> {
  const key = primaryKeyOf(table, shown);
  if (key === null) throw new Error(texts.data.noKey);
  const rows = clientTable(table.name, { as: null, isPreviewed: true });
  const version = table.columns.find(({ managed }) => managed === "version")?.name;
  if (version === undefined) {
    const names = Object.keys(changes);
    const namesOfWhole = names.filter((name) => Object.hasOwn(whole, name));
    const [theirs, theirWhole] = await Promise.all([rows.get(key), wholeValues(table, key, namesOfWhole)]);
    if (!haveSame(names, { ...shown, ...whole }, { ...theirs, ...theirWhole }))
      return { outcome: "conflict", theirs, whole: theirWhole };
    return { outcome: "saved", row: await rows.update(key, changes) };
  }
  try {
    const row = await rows.update(key, changes, { ifMatch: shown[version] as number });
    return { outcome: "saved", row };
  } catch (error) {
    if (!(error instanceof SvcPreconditionError)) throw error;
    return { outcome: "conflict", theirs: await rows.get(key), whole: {} };
  }
}

/**
 * Whether two states of a row have the same values in these columns. A long value has to be in the same form in both:
 * whole, or as its beginning and its size. Two forms mean that it was short in one state and long in the other.
 */
export function haveSame(names: readonly string[], a: TableRow, b: TableRow): boolean {
  return names.every((name) => JSON.stringify(a[name]) === JSON.stringify(b[name]));
}

/** Some columns of a row as the caller `as` sees them now, long values whole too. */
export async function wholeValues(
  table: SchemaTable,
  key: TableRow,
  names: readonly string[],
  as: As | null = null,
): Promise<TableRow> {
  if (names.length === 0) return {};
  const list = { where: key as Record<string, string>, select: names, limit: 1 };
  return (await clientTable(table.name, { as }).list(list))[0] ?? {};
}

/** A version of a row: which write made it, when and by whom, and the row after it, null for a deleted one. */
export interface Version {
  readonly seq: number;
  readonly at: string;
  readonly op: "insert" | "update" | "delete";
  readonly by: { readonly kind: string; readonly id: string | null } | null;
  readonly changed?: readonly string[];
  readonly row: TableRow | null;
}

/** Whether older versions of the table's rows can be restored. */
export const keepsHistory = ({ history }: SchemaTable) => history !== "none";

/** Loads the last `limit` versions of a row, the newest first, with only the beginnings of long values. */
export async function loadVersions(
  table: SchemaTable,
  key: TableRow,
  limit: number,
  signal?: AbortSignal,
): Promise<readonly Version[]> {
  const where = Object.entries(key).map(([name, value]) => [`where[${name}]`, String(value)] as const);
  const parameters = new URLSearchParams([...where.map(([name, value]) => [name, value]), ["limit", String(limit)]]);
  return requestData("GET", `/data/${table.name}/_svc/history?${parameters}`, undefined, {
    signal,
    headers: previewHeader,
  });
}

/** Sends only the version's number: the server has the whole values, the console perhaps only their beginnings. */
export function restoreVersion(table: SchemaTable, key: TableRow, seq: number): Promise<TableRow> {
  return requestData("POST", `/data/${table.name}/_svc/restore`, { key, seq }, { headers: previewHeader });
}
