import { badRequest } from "../http/refusal.js";
import type { Result, ResultValue, SqlValue } from "../platform/database.js";
import { type Duration, type Execution, read } from "../tables/execution/execution.js";
import { keyValues, parseCursorKey, slotsOf, writtenOut } from "../tables/list/prepare-list.js";
import { candidatesMax, deltaStatement } from "../tables/sql/delta.js";
import { finishKey, finishRows } from "../tables/sql/finish-rows.js";
import { headStatement } from "../tables/sql/log.js";
import { bind, Slot } from "../tables/sql-text/fragment.js";
import type { CopyProgress, Mark, Round } from "./checkpoint.js";
import { entriesMax, type LogHead } from "./judge-checkpoint.js";
import type { ChangesPageOutcome, SharedPages } from "./shared-pages.js";
import type { FollowedTable, View } from "./view.js";

/** How a page of changes is read. */
export interface Reading {
  /** How many changes the page has at most. */
  readonly limit: number;
  readonly scanLimit: number;
  readonly duration: Duration;
  readonly execution: Execution;
  readonly shared: SharedPages;
}

/**
 * In how many tables of a view a client has rows at the beginning of a round: in all of them, or in a first copy in those
 * before the one that it has come to, and there if it has come to a row.
 */
export function tablesOf({ tables }: View, { copied }: Round): number {
  if (copied === undefined) return tables.length;
  return copied.state === null ? copied.table : copied.table + 1;
}

/**
 * Collects changes from the tables of a view, beginning where the page before ended: of all rows, or of those that a
 * first copy had come to when the round began. Refuses a row that is too large for an answer. `gone` and `too many`: see
 * `ChangesPageOutcome`.
 */
export async function readChanges(
  view: View,
  { from, round }: { readonly from: Mark; readonly round: Round },
  { limit, scanLimit, duration, execution, shared }: Reading,
): Promise<ChangesPageOutcome> {
  const changes: string[] = [];
  execution.tally.add(null);
  const tables = tablesOf(view, round);
  const { copied = null } = round;
  let { table, after } = round;
  let left = scanLimit;
  let characters = 0;
  while (table < tables && changes.length < limit && left > 0) {
    const followed = view.tables[table]!;
    const { catalog } = followed.access;
    // Changes of further tables are not read once half of a page is full. In a first copy, a page of a list is told with
    // them.
    const bytesMax = Math.floor(catalog.pageBytesMax / (copied === null ? 2 : 4));
    if (characters >= bytesMax) break;
    const last = copied?.table === table ? placeOf(followed, copied) : null;
    const page = {
      from: new Slot("from"),
      to: new Slot("to"),
      after: after === null ? null : new Slot("after"),
      limit: limit - changes.length,
      window: left,
      bytesMax,
      copiedTo: last && { columns: last.columns, key: slotsOf("upTo", last.values)! },
    };
    const place = last && [last.columns.map((column) => column.name), writtenOut(last.values)];
    const name = JSON.stringify([view.text, table, after === null, page.limit, left, copied !== null, place]);
    const sql = shared.statement(catalog, name, () => deltaStatement(followed, page));
    const moments = new Map<string, SqlValue>([
      ["from", BigInt(from.seq)],
      ["to", BigInt(round.to.seq)],
      ["after", after],
    ]);
    const values = [moments, execution.values, followed.values, keyValues("upTo", last?.values ?? null)];
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
    if (logHead(state!).head.floor > from.seq) return "gone";
    const rows = found!.rows.filter((row) => row[4] === null);
    const [end, , , , examined, passed, candidates, isCut] = found!.rows.find((row) => row[4] !== null) ?? nothing;
    if ((candidates as number) > candidatesMax) return "too many";
    if (rows.some(([, , row]) => row === "too large")) return tooLarge;
    for (const row of rows) {
      const change = await changeOf(followed, row);
      characters += change.length;
      changes.push(change);
    }
    left -= examined as number;
    if ((passed as number) > rows.length) return { changes, table, after: rows.at(-1)![0] as string };
    if (isCut === 1 || left <= 0) return { changes, table, after: end as string };
    table += 1;
    after = null;
  }
  return { changes, table, after };
}

const nothing: readonly (number | null)[] = [null, null, null, null, 0, 0, 0, 0];
const tooLarge = badRequest("a row is too large for an answer: select fewer columns");

/**
 * The place that a copy has come to in its present table. The list is not ordered by columns of the key that its rule
 * holds equal to a value.
 */
function placeOf({ access, logged }: FollowedTable, { state }: CopyProgress) {
  const { order, window } = state!;
  const key = parseCursorKey(window.after)!;
  const places = order.flatMap((name, i) => (logged.key.some((column) => column.name === name) ? [i] : []));
  return {
    columns: places.map((i) => access.table.columns.get(order[i]!)!),
    values: places.map((i) => key[i]!),
  };
}

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

/** Whether the log has entries after a moment that matter to the caller. `gone`: it is no longer complete since then. */
export async function hasChangedSince(view: View, from: Mark, execution: Execution): Promise<boolean | "gone"> {
  const question = headStatement({
    tables: view.logs,
    from: from.seq,
    to: null,
    entriesMax,
    related: [],
    pushing: null,
  });
  const [state] = await read(execution, [question], "short");
  const { head } = logHead(state!);
  // Of very many entries not all are looked at.
  return head.floor > from.seq ? "gone" : head.isConcerned || head.entries > entriesMax;
}

/**
 * Reads the result of `headStatement`. `generations` is a text that changes when a schema change makes clients fetch
 * the rows of one of the tables anew.
 */
export function logHead({ rows }: Result): {
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
