import type { Actor } from "../../auth/callers/principal.js";
import { unknownMember } from "../../http/body.js";
import { badRequest, isRefusal, Refusal } from "../../http/refusal.js";
import type { SqlValue } from "../../platform/database.js";
import type { RuleAction } from "../../rules/ast.js";
import { TRUE } from "../../rules/fold.js";
import type { Access } from "../access/access.js";
import { fromJson } from "../access/values.js";
import { read, type WriteExecution } from "../execution/execution.js";
import { type Body, keyOrValue, notFound, type RowValues } from "../request/row-request.js";
import { getRow, type RowTarget } from "../row/get-row.js";
import { loneWrite, writeAlone } from "../row/lone-write.js";
import { insertOf, type RowWrite, updateOf } from "../row/row-write.js";
import { castValues, type EarlierValue } from "../sql/cast.js";
import { finishRows } from "../sql/finish-rows.js";
import { pastOf, versionFactsStatement, versionsStatement } from "../sql/past.js";
import type { Moments } from "./moments.js";

/** What `restore` needs to write an earlier version of a row back. */
export interface Restoring {
  /** What the caller may do with the history of the table. */
  readonly past: Access;
  readonly caller: Actor;
  /** Decides what the caller may now do with the table by an action, such as `update`. */
  readonly accessFor: (action: RuleAction) => Access | Refusal;
  readonly statements: Omit<RowTarget, "access">;
  readonly moments: Moments;
}

/**
 * Writes an earlier version of a row back: as an update or, where the row was deleted, as a create
 * (`docs/reference/http.md#restore`). Only the columns that the caller may both read and write are written; for an API
 * key, those that it may write. A create also writes the key, and who created the row and when. It is refused where the
 * version has values in other columns. Columns that the version does not have are left as they are, or get their
 * default. Returns the row as JSON text, as a write does.
 */
export async function restore(
  body: Body,
  { past, caller, accessFor, statements, moments }: Restoring,
  execution: WriteExecution,
): Promise<string | Refusal> {
  const { table } = past;
  const { key: sentKey, seq: sentSeq } = body;
  const unknown = unknownMember(body, ["key", "seq"]);
  if (unknown !== undefined) return badRequest(`unknown member ${JSON.stringify(unknown)}`);
  const key = keyOrValue(past, sentKey);
  if (isRefusal(key)) return key;
  const seq = await entryOf(sentSeq, moments);
  if (seq === null) return badRequest("seq: expected the number of an entry, as the history of the row has it");
  const version = await versionAt(seq, key, past, caller, execution);
  if (isRefusal(version)) return version;
  const reading = accessFor("read");
  const isKey = (column: string) => (table.primaryKey as readonly string[]).includes(column);
  const isReadable = (column: string) => caller.kind === "key" || past.readable.has(column);
  const values = await valuesOf(version, past, execution);
  const chosen = (access: Access) =>
    new Map([...values].filter(([column]) => isReadable(column) && access.mayWrite(column)));
  const target = (access: Access): RowTarget => ({ ...statements, access: withoutValues(access) });
  const written = (write: RowWrite | Refusal) =>
    isRefusal(write) ? write : writeAlone(loneWrite(write, execution), execution);
  // For an API key that may not read, no statement looks for the row first: the update itself shows whether the row is
  // there.
  const there = isRefusal(reading) ? null : await getRow({ ...statements, access: reading }, execution, key);
  // A row that has taken the key since is another one. It is not overwritten: the create finds the key taken.
  if (there !== notFound && !version.wasDeleted) {
    const access = accessFor("update");
    if (isRefusal(access)) return access;
    const patch = new Map([...chosen(access)].filter(([column]) => !isKey(column)));
    if (patch.size === 0) return nothingToWrite;
    const updated = await written(updateOf(target(access), key, patch, execution));
    if (updated !== notFound) return updated;
  }
  const access = accessFor("create");
  if (isRefusal(access)) return access;
  const managed = (column: string) => table.columns.get(column)!.managed;
  const returns = (column: string) => isKey(column) || ["created_at", "created_by"].includes(managed(column) ?? "");
  const row = new Map([...chosen(access), ...[...values].filter(([column]) => returns(column))]);
  const lost = [...values].find(([column, value]) => value !== null && !row.has(column) && managed(column) === null);
  if (lost !== undefined) return notWhole;
  return written(insertOf(target(access), row, execution));
}

const nothingToWrite = new Refusal("forbidden", "you may write none of the row's columns");
const notWhole = new Refusal("forbidden", "the row has values in columns that you may not read and write");
const isDeletion = badRequest("seq: the row was deleted then; name an entry before that");

/**
 * Returns the access for the write that restores a row. A write returns to an API key without the read scope the
 * columns that were written. This access prevents that, because the key has never sent the values of an earlier
 * version.
 */
function withoutValues(access: Access): Access {
  return access.writeOnlyKey
    ? { ...access, key: access.key && `${access.key}, by history`, writeOnlyKey: false }
    : access;
}

async function entryOf(sent: unknown, moments: Moments): Promise<number | null> {
  if (typeof sent !== "string" && typeof sent !== "number") return null;
  const moment = await moments.read(String(sent));
  return moment?.kind === "seq" ? moment.seq : null;
}

/** An earlier version of a row. */
interface Version {
  readonly row: Body;
  /** The columns that the table had then; null where it had all that it has now. */
  readonly columns: ReadonlySet<string> | null;
  /** Whether the row was deleted after the version, so that a row which has its key now is another one. */
  readonly wasDeleted: boolean;
}

/**
 * Finds the row as it was after an entry of the log. Returns a refusal where there is no such version that the caller
 * may see, or where the entry is the deletion of the row.
 */
async function versionAt(
  seq: number,
  key: RowValues,
  past: Access,
  caller: Actor,
  execution: WriteExecution,
): Promise<Version | Refusal> {
  const columns = [...past.table.columns.values()];
  const whole = pastOf(past, 1, 1, { output: columns, preview: null, ...(caller.kind === "key" && { rule: TRUE }) });
  const statements = [
    versionsStatement(whole, seq - 1, seq + 1, key, execution.values),
    versionFactsStatement(whole, seq, key),
  ];
  const [found, facts] = await read(execution, statements, "long");
  execution.tally.add(null);
  const version = found!.rows.find((row) => row[8] === null);
  if (version === undefined) return noSuchVersion;
  const [, , , , , op, , row] = version;
  if (op === "delete") return isDeletion;
  const [had, wasDeleted] = facts!.rows[0]!;
  return {
    row: JSON.parse(await finishRows(row as string, columns)),
    columns: had === null ? null : new Set(JSON.parse(had as string) as string[]),
    wasDeleted: wasDeleted === 1,
  };
}

const noSuchVersion = new Refusal("not_found", "no such version of the row");

/**
 * The values of a version for the columns as they are now, without those that the table got later. A value from before a
 * change of its column's type is not of that type, and becomes what CAST makes of it.
 */
async function valuesOf({ row, columns }: Version, { table }: Access, execution: WriteExecution): Promise<RowValues> {
  const values = new Map<string, SqlValue>();
  const earlier: EarlierValue[] = [];
  for (const [name, value] of Object.entries(row)) {
    if (columns !== null && !columns.has(name)) continue;
    const column = table.columns.get(name)!;
    const parsed = fromJson(column, value);
    values.set(name, parsed.ok ? parsed.value : null);
    if (!parsed.ok) earlier.push({ column, value: value as string | number });
  }
  if (earlier.length === 0) return values;
  const cast = castValues(earlier);
  return new Map([...values, ...cast.read(await read(execution, cast.statements, "short"))]);
}
