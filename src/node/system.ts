import type { Clock, Log, Platform, Random } from "../platform/platform.js";
import { msToTick } from "../platform/tick.js";

/** The clock of the process. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  cpu: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
};

/** Node's own `fetch`. */
export const systemFetch: Platform["fetch"] = (input, init) => fetch(input, init);

/** Generating a whole block of random bytes takes no longer than generating the few that one request needs. */
const block = new Uint8Array(4096);
let used = block.length;

/** Random bytes from Web Crypto, generated in blocks. */
export const systemRandom: Random = {
  bytes: (length) => {
    if (length > block.length) return crypto.getRandomValues(new Uint8Array(length));
    if (used + length > block.length) {
      crypto.getRandomValues(block);
      used = 0;
    }
    const bytes = block.slice(used, used + length);
    // Erased, so that bytes that are handed out cannot be found in memory here.
    block.fill(0, used, used + length);
    used += length;
    return bytes;
  },
};

/**
 * Implements `Platform.defer` with a timer. The timer does not keep the process alive: work that has not begun when the
 * process ends is dropped.
 */
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
