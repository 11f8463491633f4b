/**
 * Release 0.2.0: a counter of the throttle knows when it ends, because those of accounts last longer the more they have
 * counted. Counters that were there before end after the window that 0.1.0 has for failed passwords, five minutes, so that
 * none that was over keeps anybody out; an address may thereby get its mails of one hour a second time.
 */
export const countersThatEnd: readonly string[] = [
  "ALTER TABLE _throttle ADD COLUMN ends_at INTEGER NOT NULL DEFAULT 0",
  "UPDATE _throttle SET ends_at = started_at + 300000",
  "CREATE INDEX _throttle_ends_at ON _throttle (ends_at)",
  "DROP INDEX _throttle_started_at",
];
