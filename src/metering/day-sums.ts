import { type Receipt, sumOf } from "../platform/journal.js";

/** A day in milliseconds. */
export const dayMs = 86_400_000;

/** The day in UTC of a time in milliseconds since the epoch, as `2026-01-31`. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Groups receipts by their day in UTC. Within a day they keep their order. */
export function byDay(receipts: readonly Receipt[]): readonly DayReceipts[] {
  // Grouping by the number of the day is quicker: formatting the date of every receipt would take longer than adding it
  // up.
  const days: Record<number, Receipt[]> = {};
  for (const receipt of receipts) {
    const day = Math.floor(receipt.atMs / dayMs);
    days[day] ??= [];
    days[day].push(receipt);
  }
  return Object.values(days).map((those) => [dayOf(those[0]!.atMs), those[0]!.attemptId, those]);
}

/** The receipts of one day in UTC. `first` is the `attemptId` of the first of them. */
export type DayReceipts = readonly [day: string, first: string, receipts: readonly Receipt[]];

/**
 * The sums of one caller's requests to one table in a day, in the order of the columns of `_usage_days` after `day`.
 * `principalId` is empty for an anonymous caller. Unknown counts are left out; `unknownReads` counts the requests whose
 * rows read are unknown.
 */
export type UsageSum = [
  table: string,
  principalKind: Receipt["principalKind"],
  principalId: string,
  requests: number,
  rowsRead: number,
  rowsWritten: number,
  rowsReturned: number,
  unknownReads: number,
];

/** One sum for each table and caller, whatever the receipts' days. */
export function sumsOf(receipts: readonly Receipt[]): readonly UsageSum[] {
  const sums: Record<string, UsageSum> = {};
  for (const receipt of receipts) {
    const { table, principalKind, principalId, rowsRead, rowsWritten, rowsReturned } = receipt;
    const { requests, unknownReads } = sumOf(receipt);
    const subject = [table, principalKind, principalId ?? ""] as const;
    const key = subject.join("\0");
    sums[key] ??= [...subject, 0, 0, 0, 0, 0];
    const sum = sums[key];
    sum[3] += requests;
    sum[4] += rowsRead ?? 0;
    sum[5] += rowsWritten ?? 0;
    sum[6] += rowsReturned ?? 0;
    sum[7] += unknownReads;
  }
  return Object.values(sums);
}
