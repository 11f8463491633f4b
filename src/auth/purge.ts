import type { Platform } from "../platform/platform.js";
import type { Config } from "../project/config.js";
import { mailWindowMs } from "./mail-allowance.js";
import { purgeSignIns } from "./store/oauth.js";
import { purgeStatements } from "./store/purge.js";

const rowsMax = 500;
const linkKeepMs = 604_800_000;

/** Removes what has ended, a few rows of each kind at a time; meant to be called every minute or so. */
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
  for (const statement of [...statements, ...purgeSignIns(now)]) await database.batch([statement]);
}
