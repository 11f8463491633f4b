const tickMs = 1_000;

/**
 * Milliseconds to the next tick, which are the full seconds of the clock. What an answer leaves behind, such as a mail for
 * an address that has an account, begins then: right behind the answer it would make the next request slower, and so tell
 * whether there was anything to do (interface, section 6).
 */
export function msToTick(now: number): number {
  return tickMs - (now % tickMs);
}
