import type { Statement } from "../platform/database.js";
import { type Gap, type Receipt, receiptValues } from "../platform/journal.js";

function statement(sql: string, ...params: Statement["params"]): Statement {
  return { sql, params };
}

/** In the order of `receiptValues`. */
const receiptColumns = [
  "attempt_id",
  "at",
  "principal_kind",
  "principal_id",
  "method",
  "table_name",
  "action",
  "status",
  "rows_read",
  "rows_written",
  "rows_returned",
];

/** Each attempt once, however often it is inserted. */
export function insertReceipts(receipts: readonly Receipt[]): Statement {
  return statement(
    `INSERT INTO _usage (${receiptColumns.join(", ")})
    SELECT ${receiptColumns.map((_, i) => `value ->> ${i}`).join(", ")} FROM json_each(?) WHERE true
    ON CONFLICT (attempt_id) DO NOTHING`,
    JSON.stringify(receipts.map(receiptValues)),
  );
}

export function insertGaps(gaps: readonly Gap[]): Statement {
  const rows = gaps.map(({ id, atMs, reason, attemptsMax }) => [id, atMs, reason, attemptsMax]);
  return statement(
    `INSERT INTO _usage_gaps (id, at, reason, attempts_max)
    SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?) WHERE true
    ON CONFLICT (id) DO NOTHING`,
    JSON.stringify(rows),
  );
}

/** Milliseconds since the epoch; `fromMs` inclusive, `toMs` not. */
export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

export type Grouping = "table" | "principal" | "day";

const day = "strftime('%Y-%m-%d', at / 1000, 'unixepoch')";
const principal = "principal_kind || ifnull(':' || nullif(principal_id, ''), '')";

/** Of receipts, and of the daily sums that older ones have become. */
const keys: Readonly<Record<Grouping, readonly [ofReceipt: string, ofDay: string]>> = {
  table: ["table_name", "table_name"],
  principal: [principal, principal],
  day: [day, "day"],
};

/** `[key, requests, rows_read, rows_written, rows_returned, unknown_reads]`; sums leave out what is unknown. */
export function sumUsage({ fromMs, toMs }: Range, grouping: Grouping): Statement {
  const [ofReceipt, ofDay] = keys[grouping];
  return statement(
    `SELECT key, sum(requests), sum(rows_read), sum(rows_written), sum(rows_returned), sum(unknown_reads) AS unknown FROM (
      SELECT ${ofReceipt} AS key, 1 AS requests, ifnull(rows_read, 0) AS rows_read, ifnull(rows_written, 0) AS rows_written,
        ifnull(rows_returned, 0) AS rows_returned, rows_read IS NULL AS unknown_reads
      FROM _usage WHERE at >= ? AND at < ?
      UNION ALL
      SELECT ${ofDay}, requests, rows_read, rows_written, rows_returned, unknown_reads
      FROM _usage_days WHERE day >= ? AND day < ?
    ) GROUP BY key ORDER BY key`,
    BigInt(fromMs),
    BigInt(toMs),
    dayOf(fromMs),
    dayOf(toMs),
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

/** UTC. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The values of `receiptOf`; a page of those behind `after`. */
export function listReceipts({ fromMs, toMs }: Range, after: string, limit: number): Statement {
  return statement(
    `SELECT ${receiptColumns.join(", ")} FROM _usage
    WHERE at >= ? AND at < ? AND attempt_id > ? ORDER BY attempt_id LIMIT ?`,
    BigInt(fromMs),
    BigInt(toMs),
    after,
    BigInt(limit),
  );
}

/**
 * Receipts of whole days before `beforeMs` become sums of their day, a few at a time. The second statement counts those
 * that it removes.
 */
export function foldReceipts(beforeMs: number, rowsMax: number): readonly Statement[] {
  const oldest = "SELECT attempt_id FROM _usage WHERE at < ? ORDER BY at LIMIT ?";
  const which = [BigInt(beforeMs), BigInt(rowsMax)];
  return [
    statement(
      `INSERT INTO _usage_days (day, table_name, principal_kind, principal_id, requests, rows_read, rows_written,
        rows_returned, unknown_reads)
      SELECT ${day}, table_name, principal_kind, ifnull(principal_id, ''), count(*), total(rows_read), total(rows_written),
        total(rows_returned), count(*) - count(rows_read)
      FROM _usage WHERE attempt_id IN (${oldest}) GROUP BY 1, 2, 3, 4
      ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, rows_read = rows_read + excluded.rows_read,
        rows_written = rows_written + excluded.rows_written, rows_returned = rows_returned + excluded.rows_returned,
        unknown_reads = unknown_reads + excluded.unknown_reads`,
      ...which,
    ),
    statement(`DELETE FROM _usage WHERE attempt_id IN (${oldest})`, ...which),
  ];
}
