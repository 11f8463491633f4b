/**
 * The server's own tables. Never exposed through /api. Times are milliseconds since the epoch, and ISO 8601 text in UTC
 * where they are shown; hashes and sealed values are base64url.
 */
export const systemTables: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS _schema (
    version INTEGER PRIMARY KEY,
    hash TEXT NOT NULL,
    text TEXT NOT NULL,
    applied_at INTEGER NOT NULL
  ) STRICT`,

  `CREATE TABLE IF NOT EXISTS _users (
    id TEXT PRIMARY KEY NOT NULL,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL UNIQUE,
    password_hash TEXT,
    role TEXT NOT NULL CHECK (role IN ('user', 'admin')),
    disabled INTEGER NOT NULL DEFAULT 0,
    email_verified INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL
  ) STRICT`,
  "CREATE INDEX IF NOT EXISTS _users_created_at ON _users (created_at)",

  `CREATE TABLE IF NOT EXISTS _sessions (
    id TEXT PRIMARY KEY NOT NULL,
    user_id TEXT NOT NULL REFERENCES _users (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
  ) STRICT`,
  "CREATE INDEX IF NOT EXISTS _sessions_user_id ON _sessions (user_id)",

  `CREATE TABLE IF NOT EXISTS _refresh_tokens (
    hash TEXT PRIMARY KEY NOT NULL,
    session_id TEXT NOT NULL REFERENCES _sessions (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER,
    successor TEXT
  ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX IF NOT EXISTS _refresh_tokens_session_id ON _refresh_tokens (session_id)",

  `CREATE TABLE IF NOT EXISTS _service_keys (
    id TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    scopes TEXT NOT NULL CHECK (json_valid(scopes)),
    created_at TEXT NOT NULL,
    expires_at TEXT,
    revoked_at TEXT
  ) STRICT`,

  `CREATE TABLE IF NOT EXISTS _throttle (
    key TEXT PRIMARY KEY NOT NULL,
    started_at INTEGER NOT NULL,
    count INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,

  `CREATE TABLE IF NOT EXISTS _known_addresses (
    user_id TEXT NOT NULL REFERENCES _users (id) ON DELETE CASCADE,
    address TEXT NOT NULL,
    PRIMARY KEY (user_id, address)
  ) STRICT, WITHOUT ROWID`,
];
