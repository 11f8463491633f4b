export interface MedianInterval {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/**
 * The median with its interval of order statistics: the k-th smallest and the k-th largest value, k as large as it can be for
 * the interval to hold the median that is measured in at least 95 of 100 cases. It asks nothing of how the values are
 * distributed, but that each is by itself. Throws for fewer than six, of which no two hold it that often.
 */
export function medianInterval(values: readonly number[]): MedianInterval {
  const sorted = [...values].sort((a, b) => a - b);
  const rank = rankOf(sorted.length);
  if (rank < 1) throw new Error(`${sorted.length} values are too few for an interval`);
  const [below, above] = [sorted[Math.floor((sorted.length - 1) / 2)]!, sorted[Math.floor(sorted.length / 2)]!];
  return { median: (below + above) / 2, low: sorted[rank - 1]!, high: sorted[sorted.length - rank]! };
}

/** The largest k for which fewer than k of n values are on one side of the median in at most 2.5 of 100 cases. */
function rankOf(n: number): number {
  let rank = 0;
  // Of the binomial distribution of n even chances: the share of cases with exactly `rank` on one side, and their sum.
  let share = 2 ** -n;
  for (let sum = share; sum <= 0.025; sum += share) {
    rank++;
    share *= (n - rank + 1) / rank;
  }
  return rank;
}
