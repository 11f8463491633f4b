/**
 * How long failed passwords of an account are remembered, in milliseconds: a day. So many more than the limit would be
 * let through again and again, if it were as short as the window of one client's mistakes.
 */
export const accountWindowMs = 86_400_000;

/** The counter of an account's failed passwords, and its limit. Times are milliseconds. */
export interface AccountCounter {
  readonly startedAt: number;
  readonly count: number;
  readonly max: number;
  /** How long strangers wait the first time. */
  readonly backoffMs: number;
}

/**
 * When a stranger may try a password of the account again: past the limit once after `backoffMs` since the counter was
 * started, once more after three times that, seven times, and so on, until the day ends (`countStrangersAttemptBehind`
 * in store/throttle.ts decides it).
 */
export function strangersMayTryAt({ startedAt, count, max, backoffMs }: AccountCounter): number {
  return startedAt + Math.min(backoffMs * (2 ** (count - max + 1) - 1), accountWindowMs);
}
