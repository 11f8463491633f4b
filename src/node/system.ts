import type { Clock, Log, Platform, Random } from "../platform/platform.js";

export const systemClock: Clock = { now: () => Date.now(), elapsed: () => performance.now() };

/** The network. */
export const systemFetch: Platform["fetch"] = (input, init) => fetch(input, init);

export const systemRandom: Random = { bytes: (length) => crypto.getRandomValues(new Uint8Array(length)) };

/** Work that the process does after an answer. */
export function deferTo(log: Log): Platform["defer"] {
  return (work) => {
    setImmediate(() => {
      work().catch((error: unknown) => log.error("deferred work failed", error));
    });
  };
}

/** Lines on standard error. */
export const stderrLog: Log = {
  warn: (message) => console.error(`warning: ${message}`),
  error: (message, cause) => console.error(`error: ${message}:`, cause),
};
