import type { Commits } from "../../src/platform/commits.js";
import type { Config } from "../../src/project/config.js";

// What a product gives only so much time has much more of it in tests, unless that time is what the test is about.

/**
 * For what waits until something has happened, which must happen: it ends as soon as that has, on a machine of any speed. The
 * limit only ends a test that would hang.
 */
export const patiently = { timeout: 600_000, interval: 1 };

/** How long a request may take to arrive. */
export const patientArrival = { maxMs: 600_000, lookEveryMs: 30_000 };

/** How long an idle connection is kept. A client that was held up for longer would send its next request to nobody. */
export const patientKeepAliveMs = 600_000;

/** A config whose requests have all the time that they need, unless its text says how much. */
export function patientConfig(config: Config, text: string): Config {
  if (text.includes("deadline_ms")) return config;
  return { ...config, api: { ...config.api, deadline_ms: 600_000, key_deadline_ms: 600_000 } };
}

/** Waits for commits that end as late as if this machine were thirty times faster; those of less than two seconds end in time. */
export function patientCommits(commits: Commits): Commits {
  return {
    known: () => commits.known(),
    announce: () => commits.announce(),
    within: (ms) => commits.within(ms < 2_000 ? ms : ms * 30),
  };
}
