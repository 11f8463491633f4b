import type { SqlValue, Statement } from "../platform/database.js";

/**
 * The fixed SQL of the server's own tables, one named function for each. Times are milliseconds since the epoch.
 * State changes carry their guard with them: nothing here is read first and written after.
 */

const statement = (sql: string, ...params: SqlValue[]): Statement => ({ sql, params });

const schemaVersion = "(SELECT max(version) FROM _schema)";

/** `[schema version]` */
export function schemaVersionCheck(): Statement {
  return statement(`SELECT ${schemaVersion}`);
}

/** `[schema version, user id, email, role]`; the user is NULL unless the session lives and the user is enabled. */
export function sessionCheck(sessionId: string): Statement {
  return statement(
    `SELECT ${schemaVersion}, u.id, u.email, u.role FROM (SELECT 1)
    LEFT JOIN _sessions s ON s.id = ? AND s.revoked_at IS NULL
    LEFT JOIN _users u ON u.id = s.user_id AND u.disabled = 0`,
    sessionId,
  );
}

/** `[schema version, key id, scopes]`; the key is NULL unless it is neither revoked nor expired. */
export function apiKeyCheck(hash: string, now: number): Statement {
  return statement(
    `SELECT ${schemaVersion}, k.id, k.scopes FROM (SELECT 1)
    LEFT JOIN _service_keys k ON k.hash = ? AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?)`,
    hash,
    BigInt(now),
  );
}

/** `[id, email, role, disabled, email_verified, created_at]` */
export function userById(id: string): Statement {
  return statement(
    "SELECT id, email, role, disabled, email_verified, created_at FROM _users WHERE id = ?",
    id,
  );
}

/** `[id, email, role, disabled, email_verified, password_hash]` */
export function userByEmail(emailKey: string): Statement {
  return statement(
    "SELECT id, email, role, disabled, email_verified, password_hash FROM _users WHERE email_key = ?",
    emailKey,
  );
}

export interface NewUser {
  readonly id: string;
  readonly email: string;
  readonly emailKey: string;
  readonly passwordHash: string;
  readonly role: "user" | "admin";
  readonly createdAtMs: number;
}

/** Returns the id; no row where the address is taken. */
export function insertUser(user: NewUser): Statement {
  return statement(
    `INSERT INTO _users (id, email, email_key, password_hash, role, created_at) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (email_key) DO NOTHING RETURNING id`,
    user.id,
    user.email,
    user.emailKey,
    user.passwordHash,
    user.role,
    BigInt(user.createdAtMs),
  );
}

export interface NewSession {
  readonly id: string;
  readonly userId: string;
  /** The password that was checked: a session is opened only while it is still the one. */
  readonly passwordHash: string;
  readonly refreshTokenHash: string;
  readonly now: number;
  readonly refreshExpiresAtMs: number;
}

/** Two statements; the first returns the session's id, no row where the user has changed in between. */
export function openSession(session: NewSession): readonly Statement[] {
  return [
    statement(
      `INSERT INTO _sessions (id, user_id, created_at)
      SELECT ?, id, ? FROM _users WHERE id = ? AND disabled = 0 AND password_hash = ? RETURNING id`,
      session.id,
      BigInt(session.now),
      session.userId,
      session.passwordHash,
    ),
    statement(
      `INSERT INTO _refresh_tokens (hash, session_id, created_at, expires_at)
      SELECT ?, id, ?, ? FROM _sessions WHERE id = ?`,
      session.refreshTokenHash,
      BigInt(session.now),
      BigInt(session.refreshExpiresAtMs),
      session.id,
    ),
  ];
}

const liveSession =
  "EXISTS (SELECT 1 FROM _sessions s JOIN _users u ON u.id = s.user_id WHERE s.id = session_id AND s.revoked_at IS NULL AND u.disabled = 0)";

export interface Rotation {
  readonly hash: string;
  readonly successorHash: string;
  /** The successor, sealed under a key that only the holder of the predecessor can derive. */
  readonly sealedSuccessor: string;
  readonly now: number;
  readonly successorExpiresAtMs: number;
  readonly graceMs: number;
}

/**
 * Consumes a refresh token and stores its successor, or revokes the family of one that is reused past its window.
 * The last statement reports what the token is then; see `refresh-rotation.ts` for how it is read.
 */
export function rotateRefreshToken(rotation: Rotation): readonly Statement[] {
  const now = BigInt(rotation.now);
  return [
    statement(
      `UPDATE _refresh_tokens SET used_at = ?, successor = ?
      WHERE hash = ? AND used_at IS NULL AND expires_at > ? AND ${liveSession}`,
      now,
      rotation.sealedSuccessor,
      rotation.hash,
      now,
    ),
    statement(
      `INSERT INTO _refresh_tokens (hash, session_id, created_at, expires_at)
      SELECT ?, session_id, ?, ? FROM _refresh_tokens WHERE hash = ? AND changes() = 1`,
      rotation.successorHash,
      now,
      BigInt(rotation.successorExpiresAtMs),
      rotation.hash,
    ),
    revokeReused(rotation.hash, rotation.now, rotation.graceMs),
    statement(
      `SELECT t.used_at, t.expires_at, t.successor, s.id, s.revoked_at, u.id, u.email, u.role, u.disabled
      FROM _refresh_tokens t JOIN _sessions s ON s.id = t.session_id JOIN _users u ON u.id = s.user_id
      WHERE t.hash = ?`,
      rotation.hash,
    ),
  ];
}

/** Reuse of a consumed token after its grace window ends the whole family (RFC 9700, section 4.14.2). */
function revokeReused(hash: string, now: number, graceMs: number): Statement {
  return statement(
    `UPDATE _sessions SET revoked_at = ? WHERE revoked_at IS NULL AND id =
    (SELECT session_id FROM _refresh_tokens WHERE hash = ? AND used_at IS NOT NULL AND abs(? - used_at) > ?)`,
    BigInt(now),
    hash,
    BigInt(now),
    BigInt(graceMs),
  );
}

/** Ends the session of a refresh token. The last statement returns its id; no row where the token was not live. */
export function revokeByRefreshToken(hash: string, now: number, graceMs: number): readonly Statement[] {
  return [
    revokeReused(hash, now, graceMs),
    statement(
      `UPDATE _sessions SET revoked_at = ? WHERE revoked_at IS NULL AND id =
      (SELECT session_id FROM _refresh_tokens WHERE hash = ? AND expires_at > ?) RETURNING id`,
      BigInt(now),
      hash,
      BigInt(now),
    ),
  ];
}

export interface NewServiceKey {
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  readonly scopes: readonly string[];
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
}

export function insertServiceKey(key: NewServiceKey): Statement {
  return statement(
    "INSERT INTO _service_keys (id, name, hash, scopes, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
    key.id,
    key.name,
    key.hash,
    JSON.stringify(key.scopes),
    BigInt(key.createdAtMs),
    key.expiresAtMs === null ? null : BigInt(key.expiresAtMs),
  );
}

/** Returns the id; no row where there is no such key, or it was revoked before. */
export function revokeServiceKey(id: string, now: number): Statement {
  return statement(
    "UPDATE _service_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL RETURNING id",
    BigInt(now),
    id,
  );
}

/** `[id, name, scopes, created_at, expires_at, revoked_at]` */
export function listServiceKeys(): Statement {
  return statement(
    "SELECT id, name, scopes, created_at, expires_at, revoked_at FROM _service_keys ORDER BY created_at, id",
  );
}

/** `[id, email, role, disabled, email_verified, created_at]` */
export function listUsers(): Statement {
  return statement(
    "SELECT id, email, role, disabled, email_verified, created_at FROM _users ORDER BY created_at, id",
  );
}
