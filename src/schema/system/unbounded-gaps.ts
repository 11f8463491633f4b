/** Migration of release 0.2.0: `_usage_gaps.attempts_max` may be NULL: it is unknown how many receipts are missing. */
export const unboundedGaps: readonly string[] = [
  "ALTER TABLE _usage_gaps ADD COLUMN most INTEGER",
  "UPDATE _usage_gaps SET most = attempts_max",
  "ALTER TABLE _usage_gaps DROP COLUMN attempts_max",
  "ALTER TABLE _usage_gaps RENAME COLUMN most TO attempts_max",
];
