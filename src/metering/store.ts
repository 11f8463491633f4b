import { type Statement, statement } from "../platform/database.js";
import { type Gap, type Receipt, receiptValues } from "../platform/journal.js";
import { asIs, columns, onlyRow, type Query, rowsOf, rowsWritten } from "../platform/query.js";
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
    attemptsMax === null ? null : BigInt(attemptsMax),
  );
}

/** Deletes a gap whose receipts were recorded after all. */
export function deleteGap(id: string): Statement {
  return statement("DELETE FROM _usage_gaps WHERE id = ?", id);
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

const usageTotal = columns({
  key: asIs<string>,
  requests: asIs<number>,
  rowsRead: asIs<number>,
  rowsWritten: asIs<number>,
  rowsReturned: asIs<number>,
  unknownReads: asIs<number>,
});
/** What the requests of a day, of a table or of a caller (`key`) have cost together, without unknown counts. */
export type UsageTotal = ReturnType<typeof usageTotal>;

/**
 * Sums usage, in the order of the keys. If only a part of a day is in the range, it is summed from the day's receipts;
 * if those have been deleted, the whole day counts.
 */
export function sumUsage({ fromMs, toMs }: TimeRange, grouping: UsageGrouping): Query<readonly UsageTotal[]> {
  const inPart = [fromMs, toMs].map((ms) => (ms % dayMs === 0 ? "" : dayOf(ms)));
  const select = statement(
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
  return rowsOf(select, usageTotal);
}

const foundGap = columns({ atMs: asIs<number>, reason: asIs<Gap["reason"]>, attemptsMax: asIs<number | null> });
/** A gap: when it was found, why receipts are missing, and how many at most, if that is known. */
export type FoundGap = ReturnType<typeof foundGap>;

/** Lists the gaps that were found within the range, the oldest first. */
export function listGaps({ fromMs, toMs }: TimeRange): Query<readonly FoundGap[]> {
  const select = statement(
    "SELECT at, reason, attempts_max FROM _usage_gaps WHERE at >= ? AND at < ? ORDER BY at, id",
    BigInt(fromMs),
    BigInt(toMs),
  );
  return rowsOf(select, foundGap);
}

const storedEntry = columns({
  day: asIs<string>,
  id: asIs<string>,
  receipts: asIs<string>,
});

/**
 * Lists the next `limit` entries after the entry `after`. `receipts` is a JSON array of `ReceiptValues`. An entry may hold
 * hundreds of them, so each is parsed only when its turn comes.
 */
export function listEntries(after: readonly [day: string, id: string], limit: number) {
  const select = statement(
    "SELECT day, id, receipts FROM _usage_entries WHERE (day, id) > (?, ?) ORDER BY day, id LIMIT ?",
    ...after,
    BigInt(limit),
  );
  return rowsOf(select, storedEntry);
}

/** About how many bytes the stored receipts take: the text of each entry, and 64 bytes for the rest of its row. */
export function entryBytes(): Query<number> {
  const select = statement("SELECT total(octet_length(receipts) + 64) FROM _usage_entries");
  return onlyRow(select, ([bytes]) => bytes as number);
}

/** Deletes at most `entriesMax` entries of days before `beforeDay`, written `2026-01-31`. Returns how many it deletes. */
export function deleteEntries(beforeDay: string, entriesMax: number): Query<number> {
  const remove = statement(
    `DELETE FROM _usage_entries WHERE (day, id) IN (SELECT day, id FROM _usage_entries WHERE day < ? LIMIT ?)`,
    beforeDay,
    BigInt(entriesMax),
  );
  return rowsWritten(remove);
}
