/**
 * Resolves in a later turn of the event loop, after what is waiting there. Code that computes for long awaits it every
 * few milliseconds, so that other requests are answered meanwhile (docs/long-work.md#bounds-of-one-turn).
 */
export function nextTurn(): Promise<void> {
  // A Worker without setImmediate has no such turns, and a limit of CPU time for each request.
  return typeof setImmediate === "function" ? new Promise((resolve) => setImmediate(resolve)) : Promise.resolve();
}
