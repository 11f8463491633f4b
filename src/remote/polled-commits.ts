import type { Commits } from "../platform/commits.js";

/**
 * `Commits` for a database that does not report commits, such as D1 or a libSQL server: a waiting caller looks into the
 * database every `everyMs` milliseconds. Only tests set less than the two seconds.
 */
export function polledCommits(everyMs = 2_000): Commits {
  return {
    known: () => 0,
    announce: () => {},
    within: (ms) => {
      const endsAtMs = performance.now() + ms;
      return {
        get isOver() {
          return performance.now() >= endsAtMs;
        },
        next: (_known, signal) => delay(Math.min(endsAtMs - performance.now(), everyMs), signal),
      };
    },
  };
}

function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, Math.max(0, ms));
    if (signal.aborted) done();
    else signal.addEventListener("abort", done);
  });
}
