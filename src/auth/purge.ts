import type { Statement } from "../platform/database.js";
import type { Platform } from "../platform/platform.js";
import type { Config } from "../project/config.js";
import { purgeSignIns } from "./store/oauth.js";
import { purgeCounters, purgeStatements } from "./store/purge.js";

const rowsMax = 500;
const linkKeepMs = 604_800_000;
const mailKeepMs = 604_800_000;

/**
 * How often a statement that removes ended rows is repeated in one call at most, so that a call ends even where rows
 * are added as fast as they are removed.
 */
const roundsMax = 100;
/**
 * The same limit for the statement that removes counters of requests, which is higher: strangers can make several
 * thousand counters a second, each from another address, and those that have ended must not pile up.
 */
const counterRoundsMax = 2_000;

/**
 * Removes sessions, tokens, mailed links, social sign-ins and counters that have ended, a few rows at a time. To be
 * called every minute or so.
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
    sessionMaxAgeMs: auth.session_max_age_secs * 1000,
    linkKeepMs,
    mailKeepMs,
  });
  for (const statement of statements) await repeat(database, statement, roundsMax);
  for (const statement of purgeSignIns(now, rowsMax)) await repeat(database, statement, roundsMax);
  await repeat(database, purgeCounters(now, rowsMax), counterRoundsMax);
}

/**
 * Repeats a statement until it removes fewer than `rowsMax` rows, `timesMax` times at most. Each time has its own
 * transaction, so that other writes get in between.
 */
async function repeat(database: Platform["database"], statement: Statement, timesMax: number): Promise<void> {
  for (let rounds = 0, removed = rowsMax; removed >= rowsMax && rounds < timesMax; rounds++) {
    const [result] = await database.batch([statement]);
    removed = result!.rowsWritten;
  }
}
