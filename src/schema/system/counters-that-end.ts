/**
 * Migration of release 0.2.0: a row of `_throttle`, which counts attempts, now has the time at which it ends, because
 * counters of accounts last the longer the more they have counted. Counters from before end five minutes after their
 * start, the time for which 0.1.0 counted failed passwords, so that none which was already over locks anybody out.
 * Counters of mails lasted an hour, so an address may get the mails of that hour a second time.
 */
export const countersThatEnd: readonly string[] = [
  "ALTER TABLE _throttle ADD COLUMN ends_at INTEGER NOT NULL DEFAULT 0",
  "UPDATE _throttle SET ends_at = started_at + 300000",
  "CREATE INDEX _throttle_ends_at ON _throttle (ends_at)",
  "DROP INDEX _throttle_started_at",
];
