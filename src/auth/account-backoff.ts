/**
 * How long failed passwords of an account are remembered at most, in milliseconds: a day. Each failure prolongs the
 * time by a day divided by the number of failures allowed, so that slow guesses are not let through more often than
 * quick ones, and a single failure is soon forgotten.
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
 * When a stranger (a client whose address the account has never signed in from) may try a password of the account
 * again, in milliseconds since the epoch, unless the counter ends before: past the limit once after `backoffMs` since
 * the counter was started, once more after three times that, seven times, and so on (`countAttempts` in
 * store/throttle.ts decides it).
 */
export function strangersMayTryAt({ startedAt, count, max, backoffMs }: AccountCounter): number {
  return startedAt + backoffMs * (2 ** (count - max + 1) - 1);
}
