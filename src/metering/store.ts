import type { Statement } from "../platform/database.js";
import { type Gap, type Receipt, receiptValues } from "../platform/journal.js";
import { byDay, dayMs, dayOf, sumsOf } from "./day-sums.js";

function statement(sql: string, ...params: Statement["params"]): Statement {
  return { sql, params };
}

/**
 * Each list of receipts is an entry of its own, stored as it is and counted in the sums of its day: a row for each receipt would
 * cost many times as much. An entry is known by its day and its first attempt: it is stored once, however often it comes, but
 * not twice in one call.
 */
export function insertEntries(lists: readonly (readonly Receipt[])[]): readonly Statement[] {
  const entries = lists.flatMap(byDay);
  return [
    statement(
      `INSERT INTO _usage_days SELECT e.value ->> 0, s.value ->> 0, s.value ->> 1, s.value ->> 2, s.value ->> 3, s.value ->> 4,
        s.value ->> 5, s.value ->> 6, s.value ->> 7
      FROM json_each(?) AS e, json_each(e.value ->> 2) AS s
      WHERE NOT EXISTS (SELECT 1 FROM _usage_entries WHERE day = e.value ->> 0 AND id = e.value ->> 1)
      ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, rows_read = rows_read + excluded.rows_read,
        rows_written = rows_written + excluded.rows_written, rows_returned = rows_returned + excluded.rows_returned,
        unknown_reads = unknown_reads + excluded.unknown_reads`,
      JSON.stringify(entries.map(([day, first, receipts]) => [day, first, sumsOf(receipts)])),
    ),
    ...entries.map(([day, first, receipts]) =>
      statement(
        "INSERT INTO _usage_entries VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        day,
        first,
        JSON.stringify(receipts.map(receiptValues)),
      ),
    ),
  ];
}

export function insertGap({ id, atMs, reason, attemptsMax }: Gap): Statement {
  return statement(
    "INSERT INTO _usage_gaps VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
    id,
    BigInt(atMs),
    reason,
    BigInt(attemptsMax),
  );
}

/** Milliseconds since the epoch; `fromMs` inclusive, `toMs` not. */
export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

export type UsageGrouping = "table" | "principal" | "day";

/** Nobody's identifier ends with a colon. */
const principal = "rtrim(principal_kind || ':' || principal_id, ':')";

const keys: Readonly<Record<UsageGrouping, string>> = { table: "table_name", principal, day: "day" };

/**
 * `[key, requests, rows_read, rows_written, rows_returned, unknown_reads]`; sums leave out what is unknown. A day that is in
 * the range in part is summed from its receipts; where those are gone, it counts whole.
 */
export function sumUsage({ fromMs, toMs }: TimeRange, grouping: UsageGrouping): Statement {
  const inPart = [fromMs, toMs].map((ms) => (ms % dayMs === 0 ? "" : dayOf(ms)));
  return statement(
    `SELECT ${keys[grouping]} AS key, sum(requests), total(rows_read), total(rows_written), total(rows_returned),
      sum(unknown_reads)
    FROM (
      SELECT * FROM _usage_days AS d WHERE day BETWEEN ? AND ?
        AND (day NOT IN (?, ?) OR NOT EXISTS (SELECT 1 FROM _usage_entries WHERE day = d.day))
      UNION ALL
      SELECT day, value ->> 5, value ->> 2, ifnull(value ->> 3, ''), 1, value ->> 8, value ->> 9, value ->> 10,
        value ->> 8 IS NULL
      FROM _usage_entries, json_each(receipts) WHERE day IN (?, ?) AND value ->> 1 >= ? AND value ->> 1 < ?
    ) GROUP BY key ORDER BY key`,
    dayOf(fromMs),
    dayOf(toMs - 1),
    ...inPart,
    ...inPart,
    BigInt(fromMs),
    BigInt(toMs),
  );
}

/** `[at, reason, attempts_max]` */
export function listGaps({ fromMs, toMs }: TimeRange): Statement {
  return statement(
    "SELECT at, reason, attempts_max FROM _usage_gaps WHERE at >= ? AND at < ? ORDER BY at, id",
    BigInt(fromMs),
    BigInt(toMs),
  );
}

/** `[day, id, receipts]`, a page of what is behind the entry `after`. `receipts` is a JSON array of `ReceiptValues`. */
export function listEntries(after: readonly [day: string, id: string], limit: number): Statement {
  return statement(
    "SELECT day, id, receipts FROM _usage_entries WHERE (day, id) > (?, ?) ORDER BY day, id LIMIT ?",
    ...after,
    BigInt(limit),
  );
}

/** A few entries of days before that one; their sums stay. */
export function deleteEntries(beforeDay: string, entriesMax: number): Statement {
  return statement(
    `DELETE FROM _usage_entries WHERE (day, id) IN (SELECT day, id FROM _usage_entries WHERE day < ? LIMIT ?)`,
    beforeDay,
    BigInt(entriesMax),
  );
}
