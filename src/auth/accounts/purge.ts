import type { Statement } from "../../platform/database.js";
import type { Platform } from "../../platform/platform.js";
import type { Config } from "../../project/config.js";
import { purgeSignIns } from "../store/oauth.js";
import { purgeCounters, purgeStatements } from "../store/purge.js";

const rowsMax = 500;
const linkKeepMs = 604_800_000;
const mailKeepMs = 604_800_000;

/**
 * How many times in one call of `purge` a statement that removes what has ended is repeated at most, so that a call
 * ends even where rows are added as fast as they are removed.
 */
const roundsMax = 100;
/**
 * How many times in one call of `purge` the statement is repeated at most that removes counters of attempts, mails and
 * requests. More often than the others: strangers can make several thousand counters a second, each from another
 * address, and those that have ended must not pile up.
 */
const counterRoundsMax = 2_000;

/**
 * Removes sessions, refresh tokens, mailed links, records of past mails, social sign-ins and counters that have ended,
 * a few rows at a time. To be called every minute or so.
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
 * transaction, so that other writes can come between.
 */
async function repeat(database: Platform["database"], statement: Statement, timesMax: number): Promise<void> {
  for (let rounds = 0, removed = rowsMax; removed >= rowsMax && rounds < timesMax; rounds++) {
    const [result] = await database.batch([statement]);
    removed = result!.rowsWritten;
  }
}
