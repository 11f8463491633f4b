import type { Clock, Log, Platform, Random } from "../platform/platform.js";
import { msToTick } from "../platform/tick.js";

export const systemClock: Clock = { now: () => Date.now(), elapsed: () => performance.now() };

/** The network. */
export const systemFetch: Platform["fetch"] = (input, init) => fetch(input, init);

/** Asked for in blocks: the few bytes of a request cost as much as a block does. */
const block = new Uint8Array(4096);
let used = block.length;

export const systemRandom: Random = {
  bytes: (length) => {
    if (length > block.length) return crypto.getRandomValues(new Uint8Array(length));
    if (used + length > block.length) {
      crypto.getRandomValues(block);
      used = 0;
    }
    const bytes = block.slice(used, used + length);
    // Nobody finds in memory what was given away.
    block.fill(0, used, used + length);
    used += length;
    return bytes;
  },
};

/** Work that the process does at the next tick. What has not begun when it ends is nobody's to wait for. */
export function deferTo(log: Log, clock: Clock): Platform["defer"] {
  const waiting = new Set<() => Promise<void>>();
  const begin = () => {
    const works = [...waiting];
    waiting.clear();
    for (const work of works) work().catch((error: unknown) => log.error("deferred work failed", error));
  };
  return (work) => {
    if (waiting.size === 0) setTimeout(begin, msToTick(clock.now())).unref();
    waiting.add(work);
  };
}

/** Lines on standard error. */
export const stderrLog: Log = {
  warn: (message) => console.error(`warning: ${message}`),
  error: (message, cause) => console.error(`error: ${message}:`, cause),
};
