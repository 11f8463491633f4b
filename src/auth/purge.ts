import type { Platform } from "../platform/platform.js";
import type { Config } from "../project/config.js";
import { mailWindowMs } from "./mail-allowance.js";
import { purgeSignIns } from "./store/oauth.js";
import { purgeStatements } from "./store/purge.js";

const rowsMax = 500;
const linkKeepMs = 604_800_000;

/** Of each kind in one call, so that what comes faster than this is caught up with soon, and the call ends. */
const roundsMax = 100;

/** Removes what has ended, a few rows at a time; meant to be called every minute or so. */
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
    throttleMs: Math.max(auth.throttle.window_secs * 1000, mailWindowMs),
    linkKeepMs,
  });
  // One by one, so that other writes get in between.
  for (const statement of statements)
    for (let rounds = 0, removed = rowsMax; removed >= rowsMax && rounds < roundsMax; rounds++) {
      const [result] = await database.batch([statement]);
      removed = result!.rowsWritten;
    }
  for (const statement of purgeSignIns(now)) await database.batch([statement]);
}
