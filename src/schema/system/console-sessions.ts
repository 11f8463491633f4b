/**
 * Release 0.2.0: sessions of the console are rows of `_sessions`, so that whatever ends a user's sessions ends these as
 * well. They have no refresh tokens, but the hash of the token in their cookie, an end, and the time up to which their
 * user needs not type the password again. Times are milliseconds since the epoch. `_setup` holds the hash of the latest
 * link that makes the first administrator.
 */
export const consoleSessions: readonly string[] = [
  "ALTER TABLE _sessions ADD COLUMN kind TEXT NOT NULL DEFAULT 'tokens' CHECK (kind IN ('tokens', 'console'))",
  "ALTER TABLE _sessions ADD COLUMN token_hash TEXT",
  "ALTER TABLE _sessions ADD COLUMN expires_at INTEGER",
  "ALTER TABLE _sessions ADD COLUMN confirmed_until INTEGER",
  "CREATE UNIQUE INDEX _sessions_token_hash ON _sessions (token_hash) WHERE token_hash IS NOT NULL",
  "CREATE INDEX _sessions_expires_at ON _sessions (expires_at) WHERE expires_at IS NOT NULL",
  // This index serves the question whether there is an administrator, which is asked at each start, and by whoever
  // tries a link for making the first one.
  "CREATE INDEX _users_admins ON _users (role) WHERE role = 'admin'",
  `CREATE TABLE _setup (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    hash TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT`,
];
