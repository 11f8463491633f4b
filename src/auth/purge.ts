import type { Platform } from "../platform/platform.js";
import type { Config } from "../project/config.js";
import { accountWindowMs } from "./account-backoff.js";
import { mailWindowMs } from "./mail-allowance.js";
import { purgeSignIns } from "./store/oauth.js";
import { purgeStatements } from "./store/purge.js";

const rowsMax = 500;
const linkKeepMs = 604_800_000;

/**
 * How often each statement is repeated in one call at most, so that a call ends even where rows are added as fast as
 * they are removed.
 */
const roundsMax = 100;

/**
 * Removes sessions, tokens, links and counters that have ended, a few rows at a time. To be called every minute or
 * so.
 */
export async function purge(
  { database, clock }: Pick<Platform, "database" | "clock">,
  { auth }: Config,
): Promise<void> {
  const now = clock.now();
  const statements = purgeStatements({
    now,
    rowsMax,
    graceMs: auth.refresh_token_rotation_grace_secs * 1000,
    accessTokenMs: auth.access_token_ttl_secs * 1000,
    throttleMs: Math.max(auth.throttle.window_secs * 1000, mailWindowMs, accountWindowMs),
    linkKeepMs,
  });
  // Each statement has a transaction of its own, so that other writes get in between.
  for (const statement of statements)
    for (let rounds = 0, removed = rowsMax; removed >= rowsMax && rounds < roundsMax; rounds++) {
      const [result] = await database.batch([statement]);
      removed = result!.rowsWritten;
    }
  for (const statement of purgeSignIns(now)) await database.batch([statement]);
}
