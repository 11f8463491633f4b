import { badRequest, isRefusal, type Refusal } from "../http/refusal.js";
import type { Result, ResultValue, SqlValue } from "../platform/database.js";
import type { TableName } from "../sqlite/names.js";
import { type Duration, type Execution, read } from "../tables/execution/execution.js";
import { keyValues, parseCursorKey, slotsOf, writtenOut } from "../tables/list/prepare-list.js";
import { candidatesMax, deltaStatement } from "../tables/sql/delta.js";
import { finishKey, finishRows } from "../tables/sql/finish-rows.js";
import { headStatement } from "../tables/sql/log.js";
import { bind, Slot } from "../tables/sql-text/fragment.js";
import { type CopyProgress, type Mark, membersTold, type Round } from "./checkpoint.js";
import { entriesMax, type LogHead } from "./judge-checkpoint.js";
import type { MemberPage, NoPage, SharedPages } from "./shared-pages.js";
import type { Member, View } from "./view.js";

/** How a page of changes is read. */
export interface Reading {
  /** How many changes the page has at most. */
  readonly limit: number;
  readonly scanLimit: number;
  readonly duration: Duration;
  readonly execution: Execution;
  readonly shared: SharedPages;
  /** The tables with entries since the client's last moment, as in `LogHead`. */
  readonly concerned: ReadonlySet<string>;
  /** Whether the pages of the members are shared with other streams. */
  readonly isShared: boolean;
  /** By table, as in `logHead`. */
  readonly generations: ReadonlyMap<string, number>;
}

/** The changes of some members, and where the next page begins. */
export interface ChangesPage {
  /** Each as JSON text `{table, op, key, row?}`. */
  readonly changes: readonly string[];
  /** As in `Round`. */
  readonly member: number;
  readonly after: string | null;
}

/** A moment that a client has, and the round that brings it to a later one. */
export interface Way {
  readonly from: Mark;
  readonly round: Round;
}

/**
 * Of how many members of a view a client has rows at the beginning of a round: of all, or in a first copy of those before
 * the one that it has come to, and of that one if it has come to a row.
 */
export function membersOf({ members }: View, { copied }: Round): number {
  return copied === undefined ? members.length : membersTold(copied);
}

/**
 * Collects changes from the members of a view, beginning where the page before ended: of all rows, or of those that a
 * first copy had come to when the round began. Refuses a row that is too large for an answer.
 */
export async function readChanges(view: View, { from, round }: Way, reading: Reading) {
  const { limit, scanLimit, execution, shared, concerned, isShared, generations } = reading;
  const changes: string[] = [];
  execution.tally.add(null);
  const members = membersOf(view, round);
  let { member, after } = round;
  let left = scanLimit;
  let characters = 0;
  for (; member < members; member++, after = null) {
    const followed = view.members[member]!;
    if (!followed.logs.some((table) => concerned.has(table))) continue;
    // Changes of further members are not read once half of a page is full. In a first copy, a page of a list is told with
    // them.
    const bytesMax = Math.floor(followed.access.catalog.pageBytesMax / (round.copied === undefined ? 2 : 4));
    if (changes.length === limit || left <= 0 || characters >= bytesMax) break;
    const asked = isShared
      ? { limit, window: scanLimit, bytesMax }
      : { limit: limit - changes.length, window: left, bytesMax };
    const read = () => readMember(followed, { from, round: { ...round, member, after } }, asked, reading);
    // Pages that are shared are of no first copy, so that the place of the member in the view makes no difference.
    const name = JSON.stringify([textIn(followed, generations), from, round.to, after, asked]);
    const page = await (isShared ? shared.page(name, read) : read());
    if (isRefusal(page) || typeof page === "string") return page;
    // What does not fit comes first on the next page.
    if (page.changes.length > limit - changes.length) break;
    for (const change of page.changes) changes.push(change);
    characters += page.characters;
    left -= page.examined;
    if (page.after !== null) return { changes, member, after: page.after };
  }
  return { changes, member, after };
}

/** What a member's changes depend on apart from the log: its text, and the generations of its tables (`_history`). */
export function textIn({ text, logs }: Member, generations: ReadonlyMap<string, number>): string {
  return `${text} ${logs.map((table) => generations.get(table))}`;
}

/** How much of one member a page may have. */
interface MemberBounds {
  readonly limit: number;
  /** How many keys may be examined. */
  readonly window: number;
  readonly bytesMax: number;
}

async function readMember(
  followed: Member,
  { from, round: { to, member, after, copied } }: Way,
  { limit, window, bytesMax }: MemberBounds,
  { execution, duration, shared }: Reading,
): Promise<MemberPage | Refusal | NoPage> {
  const last = copied?.member === member ? placeOf(followed, copied) : null;
  const page = {
    from: new Slot("from"),
    to: new Slot("to"),
    after: after === null ? null : new Slot("after"),
    limit,
    window,
    bytesMax,
    copiedTo: last && { columns: last.columns, key: slotsOf("upTo", last.values)! },
  };
  const place = last && [last.columns.map((column) => column.name), writtenOut(last.values)];
  const name = JSON.stringify([followed.text, after === null, limit, window, bytesMax, place]);
  const sql = shared.statement(followed.access.catalog, name, () => deltaStatement(followed, page));
  const moments = new Map<string, SqlValue>([
    ["from", BigInt(from.seq)],
    ["to", BigInt(to.seq)],
    ["after", after],
  ]);
  const values = [moments, execution.values, followed.values, keyValues("upTo", last?.values ?? null)];
  // The floors are read after the changes: a log that is still complete then was complete when the changes were read.
  const [found, state] = await read(execution, [bind(sql, values), logQuestion(followed.logs, null)], duration);
  if (logHead(state!).head.floor > from.seq) return "gone";
  const rows = found!.rows.filter((row) => row[4] === null);
  const [end, , , , examined, passed, candidates, isCut] = found!.rows.find((row) => row[4] !== null) ?? nothing;
  if ((candidates as number) > candidatesMax) return "too many";
  if (rows.some(([, , row]) => row === "too large")) return tooLarge;
  const changes = await Promise.all(rows.map((row) => changeOf(followed, row)));
  return {
    changes,
    characters: changes.reduce((sum, change) => sum + change.length, 0),
    examined: examined as number,
    after:
      (passed as number) > rows.length
        ? (rows.at(-1)![0] as string)
        : isCut === 1 || (examined as number) >= window
          ? (end as string)
          : null,
  };
}

const nothing: readonly (number | null)[] = [null, null, null, null, 0, 0, 0, 0];
const tooLarge = badRequest("a row is too large for an answer: select fewer columns");

/**
 * The place that a copy has come to in its present member. The list is not ordered by columns of the key that its rule
 * holds equal to a value.
 */
function placeOf({ access, logged }: Member, { state }: CopyProgress) {
  const { order, window } = state!;
  const key = parseCursorKey(window.after)!;
  const places = order.flatMap((name, i) => (logged.key.some((column) => column.name === name) ? [i] : []));
  return {
    columns: places.map((i) => access.table.columns.get(order[i]!)!),
    values: places.map((i) => key[i]!),
  };
}

async function changeOf({ name, output, access }: Member, row: readonly ResultValue[]): Promise<string> {
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

/** What the log has of tables since a moment; with null, only from where on it is complete. */
function logQuestion(tables: readonly TableName[], from: Mark | null) {
  return headStatement({
    tables,
    floorOf: tables,
    from: from === null ? null : from.seq,
    to: null,
    entriesMax: from === null ? 0 : entriesMax,
    pushing: null,
  });
}

/** The tables whose log entries matter to members. */
export const logsOf = (members: readonly Member[]): readonly TableName[] => [
  ...new Set(members.flatMap(({ logs }) => logs)),
];

/**
 * Those of the tables with entries after a moment; `many` where there are too many to look at all. `gone`: the log is no
 * longer complete since then.
 */
export async function changedSince(
  tables: readonly TableName[],
  from: Mark,
  execution: Execution,
): Promise<ReadonlySet<string> | "many" | "gone"> {
  const [state] = await read(execution, [logQuestion(tables, from)], "short");
  const { head } = logHead(state!);
  if (head.floor > from.seq) return "gone";
  return head.entries > entriesMax ? "many" : head.concerned;
}

/** Reads the result of `headStatement`. `generations`: by table, a number that changes with schemas (`_history`). */
export function logHead({ rows }: Result): {
  readonly head: LogHead;
  readonly generations: ReadonlyMap<string, number>;
  readonly clients: string | null;
} {
  const [newest, witness, witnessAtFrom, witnessAtTo, floor, entries, concerned, generations, clients] = rows[0]!;
  const head: LogHead = {
    newest: { seq: newest as number, witness: witness as string | null },
    witnessAtFrom: witnessAtFrom as string | null,
    witnessAtTo: witnessAtTo as string | null,
    floor: (floor ?? 0) as number,
    entries: entries as number,
    concerned: new Set<string>(JSON.parse(concerned as string)),
  };
  return { head, generations: new Map(JSON.parse(generations as string)), clients: clients as string | null };
}
