import type { Clock, Log, Random } from "../platform/platform.js";

export const systemClock: Clock = { now: () => Date.now() };

export const systemRandom: Random = { bytes: (length) => crypto.getRandomValues(new Uint8Array(length)) };

/** Lines on standard error. */
export const stderrLog: Log = {
  warn: (message) => console.error(`warning: ${message}`),
  error: (message, cause) => console.error(`error: ${message}:`, cause),
};
