/**
 * Migration of release 0.2.0: `_usage_gaps.attempts_max` may be NULL, if it is unknown how many receipts are missing.
 * The table is made anew: to drop or rename a column, SQLite compiles the indexes of all tables, which fails if another
 * program's collation is missing.
 */
export const unboundedGaps: readonly string[] = [
  "CREATE TABLE _usage_gaps_kept AS SELECT * FROM _usage_gaps",
  "DROP TABLE _usage_gaps",
  `CREATE TABLE _usage_gaps (
    id TEXT PRIMARY KEY NOT NULL,
    at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    attempts_max INTEGER
  ) WITHOUT ROWID`,
  "INSERT INTO _usage_gaps SELECT * FROM _usage_gaps_kept",
  "DROP TABLE _usage_gaps_kept",
];
