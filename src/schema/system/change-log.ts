/**
 * Migration of release 0.2.0: the tables of the log of changes (docs/change-log.md). `_changes` has no constraints:
 * with OR IGNORE, SQLite would silently leave out a log entry that breaks one. The newest entry is never deleted, so
 * that no number is used twice. `_transactions.seq` is the number of a transaction's newest entry, NULL while the
 * transaction is open. `_history` says for each table that keeps history from which entry on its log is complete.
 */
export const changeLog: readonly string[] = [
  `CREATE TABLE _changes (
    seq INTEGER PRIMARY KEY,
    witness INTEGER,
    tx INTEGER,
    at INTEGER,
    tbl TEXT,
    pk TEXT,
    op TEXT,
    old TEXT
  )`,
  "CREATE INDEX _changes_key ON _changes (tbl, pk, seq)",
  `CREATE TABLE _transactions (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    principal_kind TEXT,
    principal_id TEXT,
    attempt_id TEXT,
    client TEXT,
    mutation INTEGER,
    seq INTEGER
  )`,
  "CREATE INDEX _transactions_at ON _transactions (at)",
  `CREATE TABLE _history (
    tbl TEXT PRIMARY KEY,
    generation INTEGER NOT NULL,
    floor INTEGER NOT NULL,
    floor_at INTEGER NOT NULL
  ) WITHOUT ROWID`,
];
