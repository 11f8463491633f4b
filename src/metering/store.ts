import { type Statement, statement } from "../platform/database.js";
import { type Gap, type Receipt, receiptValues } from "../platform/journal.js";
import { byDay, dayMs, dayOf, sumsOf } from "./day-sums.js";

/**
 * Stores receipts. Each list becomes an entry per day, one row of `_usage_entries`, because a row for each receipt
 * would cost many times as much. The list is also added to the sums of that day. An entry is identified by its day and
 * its first attempt: if it is stored already, nothing is stored or added again. One call must not hold the same entry
 * twice, because the sums of all entries are added before the first entry is stored.
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

/** Stores a gap, unless it is stored already. */
export function insertGap({ id, atMs, reason, attemptsMax }: Gap): Statement {
  return statement(
    "INSERT INTO _usage_gaps VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
    id,
    BigInt(atMs),
    reason,
    BigInt(attemptsMax),
  );
}

/** In milliseconds since the epoch. `fromMs` is included, `toMs` is not. */
export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The parameter `group_by` of `GET /admin/api/usage` (`docs/reference/metering.md#usage`). */
export type UsageGrouping = "table" | "principal" | "day";

/** `user:<id>`, `key:<id>` or `anonymous`. The id of anonymous callers is empty, so the colon before it is trimmed. */
const principal = "rtrim(principal_kind || ':' || principal_id, ':')";

const keys: Readonly<Record<UsageGrouping, string>> = { table: "table_name", principal, day: "day" };

/**
 * Sums usage, without unknown counts. If only a part of a day is in the range, it is summed from the day's receipts; if
 * those have been deleted, the whole day counts. The rows, in the order of the keys: `[key, requests, rows_read,
 * rows_written, rows_returned, unknown_reads]`.
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
      SELECT day, value ->> 5, value ->> 2, ifnull(value ->> 3, ''), ifnull(value ->> '$[11][0]', 1), value ->> 8, value ->> 9,
        value ->> 10, ifnull(value ->> '$[11][1]', value ->> 8 IS NULL)
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

/** Lists the gaps that were found within the range: rows `[at, reason, attempts_max]`, the oldest first. */
export function listGaps({ fromMs, toMs }: TimeRange): Statement {
  return statement(
    "SELECT at, reason, attempts_max FROM _usage_gaps WHERE at >= ? AND at < ? ORDER BY at, id",
    BigInt(fromMs),
    BigInt(toMs),
  );
}

/**
 * Lists the next `limit` entries after the entry `after`: rows `[day, id, receipts]`; `receipts` is a JSON array of
 * `ReceiptValues` (`platform/journal.ts`).
 */
export function listEntries(after: readonly [day: string, id: string], limit: number): Statement {
  return statement(
    "SELECT day, id, receipts FROM _usage_entries WHERE (day, id) > (?, ?) ORDER BY day, id LIMIT ?",
    ...after,
    BigInt(limit),
  );
}

/** About how many bytes the stored receipts take: the text of each entry, and 64 bytes for the rest of its row. */
export function entryBytes(): Statement {
  return statement("SELECT total(octet_length(receipts) + 64) FROM _usage_entries");
}

/** Deletes at most `entriesMax` entries of days before `beforeDay`, which is written `2026-01-31`. */
export function deleteEntries(beforeDay: string, entriesMax: number): Statement {
  return statement(
    `DELETE FROM _usage_entries WHERE (day, id) IN (SELECT day, id FROM _usage_entries WHERE day < ? LIMIT ?)`,
    beforeDay,
    BigInt(entriesMax),
  );
}
