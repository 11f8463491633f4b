/**
 * Release 0.2.0: the log of changes (docs/change-log.md). `_changes` has no constraint, because a row that breaks one is
 * left out in silence where the statement that made the change says OR IGNORE. Its newest entry is never deleted, so that
 * no number is used twice. `_transactions.seq` is the newest entry of a transaction, NULL while it is open. `_history` says
 * of each table that keeps history from which entry on its log is whole.
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
  ) STRICT`,
  "CREATE INDEX _transactions_at ON _transactions (at)",
  `CREATE TABLE _history (
    tbl TEXT PRIMARY KEY,
    generation INTEGER NOT NULL,
    floor INTEGER NOT NULL,
    floor_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
];
