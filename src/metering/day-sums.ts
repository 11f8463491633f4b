import type { Receipt } from "../platform/journal.js";

/** In milliseconds. */
export const dayMs = 86_400_000;

/** UTC. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** What one principal did with one table on one day, in the order of `_usage_days`. Sums leave out what is unknown. */
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
export function sumOfDay(day: string, receipts: readonly Receipt[]): readonly DaySum[] {
  const sums = new Map<string, DaySum>();
  for (const { table, principalKind, principalId, rowsRead, rowsWritten, rowsReturned } of receipts) {
    const key = JSON.stringify([table, principalKind, principalId]);
    let sum = sums.get(key);
    if (sum === undefined) {
      sum = [day, table, principalKind, principalId ?? "", 0, 0, 0, 0, 0];
      sums.set(key, sum);
    }
    sum[4]++;
    sum[5] += rowsRead ?? 0;
    sum[6] += rowsWritten ?? 0;
    sum[7] += rowsReturned ?? 0;
    if (rowsRead === null) sum[8]++;
  }
  return [...sums.values()];
}

/** Receipts of each day, in their order. */
export function byDay(receipts: readonly Receipt[]): ReadonlyMap<string, readonly Receipt[]> {
  const days = new Map<number, Receipt[]>();
  for (const receipt of receipts) {
    const day = Math.floor(receipt.atMs / dayMs);
    const others = days.get(day);
    if (others === undefined) days.set(day, [receipt]);
    else others.push(receipt);
  }
  return new Map([...days].map(([day, those]) => [dayOf(day * dayMs), those]));
}
