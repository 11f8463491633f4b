/**
 * Migration of release 0.2.0: sessions of the console are rows of `_sessions`, so that whatever ends the sessions of a
 * user ends these as well. They have no refresh tokens. The row has the hash of the token in the cookie, the time at
 * which the session ends, and the time until which the user need not type the password again. Times are milliseconds
 * since the epoch. `_setup` holds the hash of the latest link by which the first administrator is created.
 */
export const consoleSessions: readonly string[] = [
  "ALTER TABLE _sessions ADD COLUMN kind TEXT NOT NULL DEFAULT 'tokens' CHECK (kind IN ('tokens', 'console'))",
  "ALTER TABLE _sessions ADD COLUMN token_hash TEXT",
  "ALTER TABLE _sessions ADD COLUMN expires_at INTEGER",
  "ALTER TABLE _sessions ADD COLUMN confirmed_until INTEGER",
  "CREATE UNIQUE INDEX _sessions_token_hash ON _sessions (token_hash) WHERE token_hash IS NOT NULL",
  "CREATE INDEX _sessions_expires_at ON _sessions (expires_at) WHERE expires_at IS NOT NULL",
  // By this index the server finds out whether there is an administrator: at each start, and whenever somebody tries a
  // link for creating the first one.
  "CREATE INDEX _users_admins ON _users (role) WHERE role = 'admin'",
  `CREATE TABLE _setup (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    hash TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  )`,
];
