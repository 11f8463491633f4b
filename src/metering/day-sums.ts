import type { Receipt } from "../platform/journal.js";

/** In milliseconds. */
export const dayMs = 86_400_000;

/** UTC. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Receipts of each day, in their order, by the attempt that is the first of them. */
export function byDay(receipts: readonly Receipt[]): readonly DayReceipts[] {
  // Known by its number: to write out the day of every receipt takes longer than to add it up.
  const days: Record<number, Receipt[]> = {};
  for (const receipt of receipts) {
    const day = Math.floor(receipt.atMs / dayMs);
    days[day] ??= [];
    days[day].push(receipt);
  }
  return Object.values(days).map((those) => [dayOf(those[0]!.atMs), those[0]!.attemptId, those]);
}

export type DayReceipts = readonly [day: string, first: string, receipts: readonly Receipt[]];

/** What one principal did with one table, as `_usage_days` has it behind the day. Sums leave out what is unknown. */
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

export function sumsOf(receipts: readonly Receipt[]): readonly UsageSum[] {
  const sums: Record<string, UsageSum> = {};
  for (const { table, principalKind, principalId, rowsRead, rowsWritten, rowsReturned } of receipts) {
    const subject = [table, principalKind, principalId ?? ""] as const;
    const key = subject.join("\0");
    sums[key] ??= [...subject, 0, 0, 0, 0, 0];
    const sum = sums[key];
    sum[3]++;
    sum[4] += rowsRead ?? 0;
    sum[5] += rowsWritten ?? 0;
    sum[6] += rowsReturned ?? 0;
    if (rowsRead === null) sum[7]++;
  }
  return Object.values(sums);
}
