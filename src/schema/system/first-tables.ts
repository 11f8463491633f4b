/**
 * The server's own tables as release 0.1.0 created them. That release recorded no migrations, so the tables may exist
 * already: hence `IF NOT EXISTS`. The tables are never exposed through /api. Times are milliseconds since the epoch, or
 * ISO 8601 text in UTC where they are shown; hashes and sealed values are base64url.
 */
export const firstTables: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS _schema (
    version INTEGER PRIMARY KEY,
    hash TEXT NOT NULL,
    text TEXT NOT NULL,
    applied_at INTEGER NOT NULL
  )`,

  `CREATE TABLE IF NOT EXISTS _users (
    id TEXT PRIMARY KEY NOT NULL,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL UNIQUE,
    password_hash TEXT,
    role TEXT NOT NULL CHECK (role IN ('user', 'admin')),
    disabled INTEGER NOT NULL DEFAULT 0,
    email_verified INTEGER NOT NULL DEFAULT 0,
    registration_unconfirmed INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL
  ) WITHOUT ROWID`,
  "CREATE INDEX IF NOT EXISTS _users_created_at ON _users (created_at)",

  `CREATE TABLE IF NOT EXISTS _sessions (
    id TEXT PRIMARY KEY NOT NULL,
    user_id TEXT NOT NULL REFERENCES _users (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
  ) WITHOUT ROWID`,
  "CREATE INDEX IF NOT EXISTS _sessions_user_id ON _sessions (user_id)",
  "CREATE INDEX IF NOT EXISTS _sessions_revoked ON _sessions (revoked_at) WHERE revoked_at IS NOT NULL",

  `CREATE TABLE IF NOT EXISTS _refresh_tokens (
    hash TEXT PRIMARY KEY NOT NULL,
    session_id TEXT NOT NULL REFERENCES _sessions (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER,
    successor TEXT
  ) WITHOUT ROWID`,
  "CREATE INDEX IF NOT EXISTS _refresh_tokens_session_id ON _refresh_tokens (session_id)",
  "CREATE INDEX IF NOT EXISTS _refresh_tokens_expires_at ON _refresh_tokens (expires_at)",
  "CREATE INDEX IF NOT EXISTS _refresh_tokens_sealed ON _refresh_tokens (used_at) WHERE successor IS NOT NULL",

  `CREATE TABLE IF NOT EXISTS _service_keys (
    id TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    scopes TEXT NOT NULL CHECK (json_valid(scopes)),
    created_at TEXT NOT NULL,
    expires_at TEXT,
    revoked_at TEXT
  ) WITHOUT ROWID`,

  `CREATE TABLE IF NOT EXISTS _throttle (
    key TEXT PRIMARY KEY NOT NULL,
    started_at INTEGER NOT NULL,
    count INTEGER NOT NULL
  ) WITHOUT ROWID`,
  "CREATE INDEX IF NOT EXISTS _throttle_started_at ON _throttle (started_at)",

  `CREATE TABLE IF NOT EXISTS _known_addresses (
    user_id TEXT NOT NULL REFERENCES _users (id) ON DELETE CASCADE,
    address TEXT NOT NULL,
    PRIMARY KEY (user_id, address)
  ) WITHOUT ROWID`,

  `CREATE TABLE IF NOT EXISTS _project (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    id TEXT NOT NULL
  )`,
  "INSERT INTO _project (only, id) SELECT 1, lower(hex(randomblob(16))) WHERE NOT EXISTS (SELECT 1 FROM _project)",

  `CREATE TABLE IF NOT EXISTS _identities (
    provider TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_id TEXT NOT NULL REFERENCES _users (id) ON DELETE CASCADE,
    email TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (provider, subject)
  ) WITHOUT ROWID`,
  "CREATE INDEX IF NOT EXISTS _identities_user_id ON _identities (user_id)",

  `CREATE TABLE IF NOT EXISTS _oauth_states (
    hash TEXT PRIMARY KEY NOT NULL,
    provider TEXT NOT NULL,
    redirect_to TEXT NOT NULL,
    code_challenge TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER
  ) WITHOUT ROWID`,
  "CREATE INDEX IF NOT EXISTS _oauth_states_expires_at ON _oauth_states (expires_at)",

  `CREATE TABLE IF NOT EXISTS _oauth_codes (
    hash TEXT PRIMARY KEY NOT NULL,
    user_id TEXT NOT NULL REFERENCES _users (id) ON DELETE CASCADE,
    code_challenge TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER
  ) WITHOUT ROWID`,
  "CREATE INDEX IF NOT EXISTS _oauth_codes_user_id ON _oauth_codes (user_id)",
  "CREATE INDEX IF NOT EXISTS _oauth_codes_expires_at ON _oauth_codes (expires_at)",

  `CREATE TABLE IF NOT EXISTS _links (
    id TEXT PRIMARY KEY NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    purpose TEXT NOT NULL CHECK (purpose IN ('email_verification', 'invitation', 'password_reset')),
    user_id TEXT NOT NULL REFERENCES _users (id) ON DELETE CASCADE,
    password_hash TEXT,
    role TEXT,
    redirect_to TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER,
    used_by TEXT
  )`,
  "CREATE INDEX IF NOT EXISTS _links_user_id ON _links (user_id)",
  "CREATE INDEX IF NOT EXISTS _links_expires_at ON _links (expires_at)",

  `CREATE TABLE IF NOT EXISTS _outbox (
    id TEXT PRIMARY KEY NOT NULL,
    kind TEXT NOT NULL,
    recipient TEXT NOT NULL,
    link_id TEXT,
    action_url TEXT,
    created_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    next_attempt_at INTEGER NOT NULL,
    leased_until INTEGER NOT NULL DEFAULT 0
  )`,
  "CREATE INDEX IF NOT EXISTS _outbox_next_attempt_at ON _outbox (next_attempt_at)",

  // A row of `_usage_entries` holds the receipts of one request or, from a server on Node, mostly of many, as a JSON
  // array of `receiptValues`: a row for each receipt would cost many times as much.
  `CREATE TABLE IF NOT EXISTS _usage_entries (
    day TEXT NOT NULL,
    id TEXT NOT NULL,
    receipts TEXT NOT NULL,
    PRIMARY KEY (day, id)
  ) WITHOUT ROWID`,

  `CREATE TABLE IF NOT EXISTS _usage_days (
    day TEXT NOT NULL,
    table_name TEXT NOT NULL,
    principal_kind TEXT NOT NULL,
    principal_id TEXT NOT NULL,
    requests INTEGER NOT NULL,
    rows_read INTEGER NOT NULL,
    rows_written INTEGER NOT NULL,
    rows_returned INTEGER NOT NULL,
    unknown_reads INTEGER NOT NULL,
    PRIMARY KEY (day, table_name, principal_kind, principal_id)
  ) WITHOUT ROWID`,

  `CREATE TABLE IF NOT EXISTS _usage_gaps (
    id TEXT PRIMARY KEY NOT NULL,
    at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    attempts_max INTEGER NOT NULL
  ) WITHOUT ROWID`,
];
