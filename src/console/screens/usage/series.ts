import type { SummedUsage, UsageGap } from "../../../wire/usage.js";

/** A value for each day, null if receipts are missing. */
export interface Series {
  /** When each day begins, in unix seconds. */
  readonly days: readonly number[];
  readonly read: readonly (number | null)[];
  readonly written: readonly (number | null)[];
}

/** In seconds. */
export const daySeconds = 86_400;

/** A day without requests is 0. A day for which receipts are missing is null, because its true numbers are higher. */
export function seriesOf(
  sums: readonly SummedUsage[],
  gaps: readonly UsageGap[],
  fromSeconds: number,
  toSeconds: number,
): Series {
  const byDay = new Map(sums.map((sum) => [sum.key, sum]));
  const broken = new Set(gaps.map(({ at }) => at.slice(0, 10)));
  const days: number[] = [];
  for (let day = fromSeconds - (fromSeconds % daySeconds); day < toSeconds; day += daySeconds) days.push(day);
  const line = (member: "rows_read" | "rows_written") =>
    days.map((day) => {
      const key = dayKey(day);
      return broken.has(key) ? null : (byDay.get(key)?.[member] ?? 0);
    });
  return { days, read: line("rows_read"), written: line("rows_written") };
}

/** The name of a day (UTC) in the server's sums: `2026-01-31`. */
export function dayKey(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}
