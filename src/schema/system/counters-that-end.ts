/**
 * Release 0.2.0: a counter of the throttle knows when it ends, because those of accounts last longer the more they have
 * counted. Counters that were there before end when the longest window of 0.1.0 would have ended, an hour after they began.
 */
export const countersThatEnd: readonly string[] = [
  "ALTER TABLE _throttle ADD COLUMN ends_at INTEGER NOT NULL DEFAULT 0",
  "UPDATE _throttle SET ends_at = started_at + 3600000",
  "CREATE INDEX _throttle_ends_at ON _throttle (ends_at)",
  "DROP INDEX _throttle_started_at",
];
