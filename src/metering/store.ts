import type { Statement } from "../platform/database.js";
import { type Gap, type Receipt, receiptValues } from "../platform/journal.js";
import { byDay, dayMs, dayOf, sumsOf } from "./day-sums.js";

function statement(sql: string, ...params: Statement["params"]): Statement {
  return { sql, params };
}

/**
 * Each list of receipts is an entry of its own, stored as it is and counted in the sums of its day: a row for each receipt would
 * cost many times as much. An entry is known by its first attempt, and stored once, however often it comes.
 */
export function insertEntries(entries: readonly (readonly Receipt[])[]): readonly Statement[] {
  const ofDays = entries.flatMap(byDay);
  const sums = ofDays.flatMap((entry) => sumsOf(entry).map((sum) => [...sum, entry[1][0]!.attemptId]));
  return [
    statement(
      `INSERT INTO _usage_days SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8
      FROM json_each(?) WHERE NOT EXISTS (SELECT 1 FROM _usage_entries WHERE day = value ->> 0 AND id = value ->> 9)
      ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, rows_read = rows_read + excluded.rows_read,
        rows_written = rows_written + excluded.rows_written, rows_returned = rows_returned + excluded.rows_returned,
        unknown_reads = unknown_reads + excluded.unknown_reads`,
      JSON.stringify(sums),
    ),
    ...ofDays.map(([day, receipts]) =>
      statement(
        "INSERT INTO _usage_entries VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        day,
        receipts[0]!.attemptId,
        JSON.stringify(receipts.map(receiptValues)),
      ),
    ),
  ];
}

export function insertGaps(gaps: readonly Gap[]): readonly Statement[] {
  return gaps.map(({ id, atMs, reason, attemptsMax }) =>
    statement(
      "INSERT INTO _usage_gaps VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
      id,
      BigInt(atMs),
      reason,
      BigInt(attemptsMax),
    ),
  );
}

/** Milliseconds since the epoch; `fromMs` inclusive, `toMs` not. */
export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

export type Grouping = "table" | "principal" | "day";

const principal = "principal_kind || ifnull(':' || nullif(principal_id, ''), '')";

const keys: Readonly<Record<Grouping, string>> = { table: "table_name", principal, day: "day" };

/**
 * `[key, requests, rows_read, rows_written, rows_returned, unknown_reads]`; sums leave out what is unknown. A day that is in
 * the range in part is summed from its receipts; where those are gone, it counts whole.
 */
export function sumUsage({ fromMs, toMs }: Range, grouping: Grouping): Statement {
  const inPart = [fromMs, toMs].map((ms) => (ms % dayMs === 0 ? "" : dayOf(ms)));
  return statement(
    `SELECT ${keys[grouping]} AS key, sum(requests), total(rows_read), total(rows_written), total(rows_returned),
      sum(unknown_reads)
    FROM (
      SELECT * FROM _usage_days AS d WHERE day >= ? AND day <= ?
        AND NOT (day IN (?, ?) AND EXISTS (SELECT 1 FROM _usage_entries WHERE day = d.day))
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
export function listGaps({ fromMs, toMs }: Range): Statement {
  return statement(
    "SELECT at, reason, attempts_max FROM _usage_gaps WHERE at >= ? AND at < ? ORDER BY at, id",
    BigInt(fromMs),
    BigInt(toMs),
  );
}

/** `[day, id, receipts]`, a page of what is behind the entry `after`. `receipts` is a JSON array of `ReceiptValues`. */
export function listEntries(
  fromMs: number,
  [day, id]: readonly [day: string, id: string],
  limit: number,
): Statement {
  return statement(
    `SELECT day, id, receipts FROM _usage_entries WHERE day >= ? AND (day, id) > (?, ?) ORDER BY day, id LIMIT ?`,
    dayOf(fromMs),
    day,
    id,
    BigInt(limit),
  );
}

/** A few entries of days before that one; their sums stay. */
export function deleteEntries(beforeDay: string, entriesMax: number): Statement {
  return statement(
    `DELETE FROM _usage_entries WHERE (day, id) IN (SELECT day, id FROM _usage_entries WHERE day < ? ORDER BY day, id LIMIT ?)`,
    beforeDay,
    BigInt(entriesMax),
  );
}
