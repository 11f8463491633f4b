/**
 * Migration of release 0.2.0: how many rows a session has, and what a refresh costs, no longer grows with the session's
 * age. A row of `_sessions` now has the time of the latest refresh and a hash of what all refresh tokens of the session
 * have in common (`familyOf` in `src/auth/sessions/refresh-rotation.ts`). Refresh tokens get a number, `generation`,
 * from 1 on; those from before have 0 and are kept until they expire. Users and API keys get a column that says who
 * made them.
 */
export const boundedSessions: readonly string[] = [
  "ALTER TABLE _sessions ADD COLUMN latest_at INTEGER NOT NULL DEFAULT 0",
  "ALTER TABLE _sessions ADD COLUMN family TEXT",
  "ALTER TABLE _refresh_tokens ADD COLUMN generation INTEGER NOT NULL DEFAULT 0",
  `UPDATE _sessions SET latest_at = max(created_at, ifnull((SELECT max(max(t.created_at, ifnull(t.used_at, 0)))
    FROM _refresh_tokens t WHERE t.session_id = _sessions.id), 0))`,
  "CREATE UNIQUE INDEX _sessions_family ON _sessions (family) WHERE family IS NOT NULL",
  "CREATE INDEX _sessions_created_at ON _sessions (created_at)",
  "CREATE INDEX _refresh_tokens_generation ON _refresh_tokens (session_id, generation)",
  "DROP INDEX _refresh_tokens_session_id",
  "ALTER TABLE _users ADD COLUMN created_by TEXT",
  "ALTER TABLE _service_keys ADD COLUMN created_by TEXT",
];
