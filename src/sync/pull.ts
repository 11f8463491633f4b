import { badRequest, isRefusal, type Refusal } from "../http/refusal.js";
import { type Result, type ResultValue, type SqlValue, UnavailableError } from "../platform/database.js";
import type { Cipher } from "../platform/platform.js";
import { type Duration, type Execution, read } from "../tables/execution/execution.js";
import { candidatesMax, deltaStatement, wholeStatement } from "../tables/sql/delta.js";
import { finishKey, finishRows } from "../tables/sql/finish-rows.js";
import { headStatement } from "../tables/sql/log.js";
import { bind, Slot } from "../tables/sql-text/fragment.js";
import { type Checkpoint, type Mark, openCheckpoint } from "./checkpoint.js";
import { anew, type Course, entriesMax, judgeCheckpoint, type LogHead, type ResetReason } from "./judge-checkpoint.js";
import type { ChangesPage, ChangesPageOutcome, SharedPages } from "./shared-pages.js";
import type { FollowedTable, View } from "./view.js";

/** A page of the changes that a client is told. */
export interface PulledPage {
  /** A JSON array of `{table, op, key, row?}`. */
  readonly changes: string;
  readonly count: number;
  /** The client's checkpoint after this page. */
  readonly checkpoint: Checkpoint;
  /** Whether more pages follow until the client has the whole state of the moment that it is being brought to. */
  readonly more: boolean;
  readonly reset: ResetReason | null;
  /** Whether no row was looked at: the log has no new entry of a table that matters to the client. */
  readonly isQuiet: boolean;
  /** Whether the log has entries that are newer than the moment which the client is being brought to. */
  readonly isBehind: boolean;
  /**
   * The number of the last mutation of each client of the caller that has pushed lately: a JSON object by the names of
   * the clients. The state that this page completes includes what these mutations have done. Null if there are no such
   * clients, or if the page does not complete the newest state.
   */
  readonly clients: string | null;
}

/** The member `clients` of an answer or event, with a comma before it; empty where it is null. */
export const clientsMember = (clients: string | null) => (clients === null ? "" : `,"clients":${clients}`);

/** For how many milliseconds after its last push a client is listed in `clients`. */
const pushedMs = 86_400_000;

/**
 * Finds what has changed for a caller since a checkpoint, as a page of at most `limit` changes (docs/sync.md). All
 * pages of a round bring the client to the same moment: the newest one when the first page is asked for, or, for a
 * stream, an earlier one for which a page is already made. Only the client's checkpoint holds how far it has come.
 */
export async function pullPage(
  view: View,
  { checkpoint: given, limit, fromNow, scanLimit, isStream }: Pulling,
  execution: Execution,
  cipher: Cipher,
  shared: SharedPages,
): Promise<PulledPage | Refusal> {
  const known = typeof given === "string" ? await openCheckpoint(cipher, given) : given;
  if (given !== null && known === null) return notOurs;
  const question = headStatement({
    tables: view.logs,
    from: known?.from?.seq ?? null,
    to: known?.round?.to.seq ?? null,
    entriesMax,
    related: view.related,
    pushing: view.principal === null ? null : { principal: view.principal, sinceMs: execution.nowMs - pushedMs },
  });
  const [asked] = await read(execution, [question], "short");
  const { head, generations, clients } = logHead(asked!);
  const hashed = {
    who: await shared.hashOf(view.who),
    view: await shared.hashOf(`${view.text} ${generations}`),
  };
  let course = known === null && fromNow ? nothingNew(head.newest) : judgeCheckpoint(known, hashed, head);
  const isQuiet = course.from !== null && (known === null || (known.round === null && !head.isConcerned));
  const viewName = `${hashed.view} ${view.readOfCaller}`;
  if (isStream && course.from !== null && known?.round === null)
    course = shortened(course, shared.momentAfter(viewName, course.from, head.newest));
  const isShort = course.from !== null && head.entries <= shortEntriesMax && !head.isRelated;
  const readPage = () =>
    readChanges(view, course, { limit, scanLimit, duration: isShort ? "short" : "long" }, execution, shared);
  const pageName = JSON.stringify([viewName, course.from, course.round, limit]);
  let changed = isQuiet
    ? quiet(view)
    : !isStream || course.from === null
      ? await readPage()
      : await shared.page(pageName, readPage);
  if (changed === "gone" || changed === "too many") {
    course = anew(head.newest, changed === "gone" ? "retention" : "budget");
    changed = await readPage();
  }
  // A fresh start, as of the newest moment, needs nothing that the log has lost already. It can fail only if the log is
  // cut faster than it is read.
  if (changed === "gone" || changed === "too many") throw new UnavailableError("the log is cut while it is read");
  if (isRefusal(changed)) return changed;
  const { from, reset } = course;
  const { to } = course.round;
  const more = changed.table < view.tables.length;
  const next: Checkpoint = more
    ? { ...hashed, from, round: { to, table: changed.table, after: changed.after } }
    : { ...hashed, from: to, round: null };
  return {
    changes: `[${changed.changes.join()}]`,
    count: changed.changes.length,
    checkpoint: next,
    more,
    reset,
    isQuiet,
    isBehind: to.seq < head.newest.seq,
    clients: !more && to.seq === head.newest.seq ? clients : null,
  };
}

/** What a client asks for, apart from the tables and rows (`View`). */
export interface Pulling {
  /** As in `ParsedPull`. */
  readonly checkpoint: string | Checkpoint | null;
  readonly limit: number;
  /** As in `ParsedPull`. */
  readonly fromNow: boolean;
  readonly scanLimit: number;
  /** Whether a stream that is already open looks again; it shares its pages with other streams. */
  readonly isStream: boolean;
}

const nothingNew = (newest: Mark): Course => ({
  from: newest,
  round: { to: newest, table: 0, after: null },
  reset: null,
});

/**
 * A pull is short work if the log has at most this many entries since the checkpoint, and none of them leads to rows of
 * other tables. Then it takes no longer than reading as many single rows.
 */
const shortEntriesMax = 128;

const shortened = (course: Course, to: Mark): Course => ({ ...course, round: { ...course.round, to } });

const notOurs = badRequest("checkpoint: this is none of this server's");
const tooLarge = badRequest("a row is too large for an answer: select fewer columns");

const quiet = ({ tables }: View): ChangesPage => ({ changes: [], table: tables.length, after: null });

/**
 * Collects changes from the tables of a view, beginning where the page before ended. Refuses a row that is too large
 * for an answer. `gone` and `too many`: see `ChangesPageOutcome`.
 */
async function readChanges(
  view: View,
  { from, round }: Course,
  { limit, scanLimit, duration }: Pick<Pulling, "limit" | "scanLimit"> & { readonly duration: Duration },
  execution: Execution,
  shared: SharedPages,
): Promise<ChangesPageOutcome> {
  const changes: string[] = [];
  execution.tally.add(null);
  let { table, after } = round;
  let left = scanLimit;
  while (table < view.tables.length && changes.length < limit && left > 0) {
    const followed = view.tables[table]!;
    const page = {
      to: new Slot("to"),
      after: after === null ? null : new Slot("after"),
      limit: limit - changes.length,
      window: left,
    };
    const name = JSON.stringify([view.text, table, from === null, after === null, page.limit, left]);
    const sql = shared.statement(followed.access.catalog, name, () =>
      from === null ? wholeStatement(followed, page) : deltaStatement(followed, { ...page, from: new Slot("from") }),
    );
    const moments = new Map<string, SqlValue>([
      ["from", BigInt(from?.seq ?? 0)],
      ["to", BigInt(round.to.seq)],
      ["after", after],
    ]);
    const values = [moments, execution.values, followed.values];
    const floors = headStatement({
      tables: view.logs,
      from: null,
      to: null,
      entriesMax: 0,
      related: [],
      pushing: null,
    });
    // The floors are read after the changes: a log that is still complete then was complete when the changes were read.
    const [found, state] = await read(execution, [bind(sql, values), floors], duration);
    if (logHead(state!).head.floor > (from ?? round.to).seq) return "gone";
    const rows = found!.rows.filter((row) => row[4] === null);
    const [last, , , , examined, passed, candidates] = found!.rows.find((row) => row[4] !== null) ?? nothing;
    if (from !== null && (candidates as number) > candidatesMax) return "too many";
    if (rows.some(([, , row]) => row === "too large")) return tooLarge;
    for (const row of rows) changes.push(await changeOf(followed, row));
    left -= examined as number;
    if ((passed as number) > rows.length) return { changes, table, after: rows.at(-1)![0] as string };
    if (left <= 0) return { changes, table, after: last as string };
    table += 1;
    after = null;
  }
  return { changes, table, after };
}

const nothing: readonly (number | null)[] = [null, null, null, null, 0, 0, 0];

async function changeOf({ name, output, access }: FollowedTable, row: readonly ResultValue[]): Promise<string> {
  const [, key, shown, had] = row as readonly [unknown, string, string | null, number];
  const keyText = finishKey(
    key,
    [...access.table.columns.values()].filter((column) => access.table.primaryKey.includes(column.name)),
  );
  const op = shown === null ? "remove" : had === 1 ? "update" : "insert";
  const members = [
    `"table":${JSON.stringify(name)},"op":"${op}","key":${keyText}`,
    shown !== null && `"row":${await finishRows(shown, output)}`,
  ];
  return `{${members.filter(Boolean).join()}}`;
}

/**
 * Reads the result of `headStatement`. `generations` is a text that changes when a schema change makes clients fetch
 * the rows of one of the tables anew.
 */
function logHead({ rows }: Result): {
  readonly head: LogHead;
  readonly generations: string;
  readonly clients: string | null;
} {
  const [newest, witness, witnessAtFrom, witnessAtTo, floor, entries, concerned, related, generations, clients] =
    rows[0]!;
  const head: LogHead = {
    newest: { seq: newest as number, witness: witness as string | null },
    witnessAtFrom: witnessAtFrom as string | null,
    witnessAtTo: witnessAtTo as string | null,
    floor: (floor ?? 0) as number,
    entries: entries as number,
    isConcerned: concerned === 1,
    isRelated: related === 1,
  };
  return { head, generations: generations as string, clients: clients as string | null };
}
