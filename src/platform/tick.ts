const tickMs = 1_000;

/**
 * Milliseconds until the next tick; ticks are the full seconds of the clock. Background work that depends on secret
 * facts, such as a mail that is only sent to addresses with an account, begins at a tick. If it began directly after
 * the answer, it would slow down the next request and so reveal that there was such work
 * (`docs/reference/auth.md#mails-and-their-limits`).
 */
export function msToTick(now: number): number {
  return tickMs - (now % tickMs);
}
