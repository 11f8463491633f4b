/**
 * For how long failed passwords of an account are counted at most, in milliseconds: a day. Each failure adds to the
 * time of the counter, a day divided by the number of failures allowed. So a single failure is soon forgotten, and slow
 * guessing gains no more attempts than quick guessing.
 */
export const accountWindowMsMax = 86_400_000;

/** The counter of an account's failed passwords, and its limit. Times are milliseconds. */
export interface AccountCounter {
  readonly startedAt: number;
  readonly count: number;
  readonly max: number;
  /**
   * How long strangers (clients whose address the account has never signed in from) wait when the limit is first
   * reached.
   */
  readonly backoffMs: number;
}

/**
 * The time, in milliseconds since the epoch, from which a stranger (a client whose address the account has never signed
 * in from) may try a password of the account again. Counted from the counter's start, it is `backoffMs` when the limit
 * is reached, three times that after the next failure, then seven times, and so on. Once the counter itself has ended,
 * nobody has to wait (`countAttempts` in store/throttle.ts decides it).
 */
export function strangersMayTryAt({ startedAt, count, max, backoffMs }: AccountCounter): number {
  return startedAt + backoffMs * (2 ** (count - max + 1) - 1);
}
