/**
 * Migration of release 0.2.0: a link that is mailed may change a user's address. Its row then holds the new address,
 * and the session that asked for the change. `_links` is created anew, because SQLite cannot change a CHECK; no table
 * refers to it. Its rows are kept in another table meanwhile: renaming the new table instead would fail where one of
 * the owner's views is broken.
 */
export const emailChanges: readonly string[] = [
  "CREATE TABLE _links_kept AS SELECT * FROM _links ORDER BY rowid",
  "DROP TABLE _links",
  `CREATE TABLE _links (
    id TEXT PRIMARY KEY NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    purpose TEXT NOT NULL CHECK (purpose IN ('email_verification', 'invitation', 'password_reset', 'email_change')),
    user_id TEXT NOT NULL REFERENCES _users (id) ON DELETE CASCADE,
    password_hash TEXT,
    role TEXT,
    redirect_to TEXT,
    email TEXT,
    email_key TEXT,
    session_id TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER,
    used_by TEXT
  )`,
  `INSERT INTO _links (id, hash, purpose, user_id, password_hash, role, redirect_to, created_at, expires_at, used_at, used_by)
    SELECT id, hash, purpose, user_id, password_hash, role, redirect_to, created_at, expires_at, used_at, used_by
    FROM _links_kept ORDER BY rowid`,
  "DROP TABLE _links_kept",
  "CREATE INDEX _links_user_id ON _links (user_id)",
  "CREATE INDEX _links_expires_at ON _links (expires_at)",
];
