import type { Receipt } from "../platform/journal.js";

/** In milliseconds. */
export const dayMs = 86_400_000;

/** UTC. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Receipts of each day, in their order. */
export function byDay(receipts: readonly Receipt[]): (readonly [day: string, readonly Receipt[]])[] {
  const days: Record<string, Receipt[]> = {};
  for (const receipt of receipts) {
    const day = dayOf(receipt.atMs);
    days[day] ??= [];
    days[day].push(receipt);
  }
  return Object.entries(days);
}

/** What one principal did with one table on one day, as `_usage_days` has it. Sums leave out what is unknown. */
export type DaySum = [
  day: string,
  table: string,
  principalKind: Receipt["principalKind"],
  principalId: string,
  requests: number,
  rowsRead: number,
  rowsWritten: number,
  rowsReturned: number,
  unknownReads: number,
];

/** Of receipts of one day. */
export function sumsOf([day, receipts]: readonly [day: string, readonly Receipt[]]): readonly DaySum[] {
  const sums: Record<string, DaySum> = {};
  for (const { table, principalKind, principalId, rowsRead, rowsWritten, rowsReturned } of receipts) {
    const key = JSON.stringify([table, principalKind, principalId]);
    sums[key] ??= [day, table, principalKind, principalId ?? "", 0, 0, 0, 0, 0];
    const sum = sums[key];
    sum[4]++;
    sum[5] += rowsRead ?? 0;
    sum[6] += rowsWritten ?? 0;
    sum[7] += rowsReturned ?? 0;
    if (rowsRead === null) sum[8]++;
  }
  return Object.values(sums);
}
