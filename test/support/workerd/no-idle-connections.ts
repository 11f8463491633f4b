/** Where Node keeps what its `fetch` sends requests with. */
const dispatcher = Symbol.for("undici.globalDispatcher.1");

/**
 * Lets each request of this process have a connection of its own. workerd ends one that is idle for five seconds, and a process
 * that is held up meanwhile would send its next request to nobody.
 */
export async function keepNoIdleConnections(): Promise<void> {
  // Node makes it with the first request.
  await fetch("data:,");
  const made = globalThis as unknown as Record<symbol, { constructor: new (options: object) => object }>;
  Object.assign(globalThis, { [dispatcher]: new made[dispatcher]!.constructor({ pipelining: 0 }) });
}
