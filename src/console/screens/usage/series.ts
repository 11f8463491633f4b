import type { UsageGap, UsageSum } from "../../server/shapes.js";

/** What a chart by days draws: a value for each day, null where receipts are missing. */
export interface Series {
  /** The beginnings of the days, in unix seconds. */
  readonly days: readonly number[];
  readonly read: readonly (number | null)[];
  readonly written: readonly (number | null)[];
}

const daySeconds = 86_400;

/**
 * The sums of days as lines of a chart. A day without requests is 0; a day with a gap in its receipts has no point, because
 * what is known of it is less than what there was.
 */
export function seriesOf(
  sums: readonly UsageSum[],
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

/** The name of a day in the sums: `2026-01-31`. */
export function dayKey(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}
