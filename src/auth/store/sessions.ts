import { type Statement, statement } from "../../platform/database.js";
import type { Condition } from "./condition.js";

/**
 * A session that is not stored yet, with the hash of its first refresh token. Times are milliseconds since the epoch.
 */
export interface NewSession {
  readonly id: string;
  readonly refreshTokenHash: string;
  readonly now: number;
  readonly refreshExpiresAtMs: number;
}

/**
 * Opens a session for the enabled user whom `holder` finds, a condition on the columns of `_users AS u` that matches
 * one user at most. The first of the two statements returns `[id, email, role]` of the user, or no row where no user
 * was found.
 */
export function openSession(session: NewSession, holder: Condition): readonly Statement[] {
  return [
    statement(
      `INSERT INTO _sessions (id, user_id, created_at)
      SELECT ?, u.id, ? FROM _users u WHERE u.disabled = 0 AND (${holder.sql})
      RETURNING user_id, (SELECT email FROM _users WHERE id = user_id), (SELECT role FROM _users WHERE id = user_id)`,
      session.id,
      BigInt(session.now),
      ...holder.params,
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

/**
 * A refresh token that was presented, and the successor that is offered for it. Times are milliseconds since the
 * epoch.
 */
export interface Rotation {
  readonly hash: string;
  readonly successorHash: string;
  /** The successor, sealed under a key that nobody can derive without the predecessor. */
  readonly sealedSuccessor: string;
  readonly now: number;
  readonly successorExpiresAtMs: number;
  readonly graceMs: number;
}

/**
 * Consumes a refresh token and stores its successor, or ends the session of one that is used again after its window.
 * The last statement returns the state of the token after that, as `judgeRotation` in `refresh-rotation.ts` reads it.
 */
export function rotateRefreshToken(rotation: Rotation): readonly Statement[] {
  const now = BigInt(rotation.now);
  return [
    statement(
      `UPDATE _refresh_tokens AS t SET used_at = ${familyTime}, successor = ?
      WHERE hash = ? AND used_at IS NULL AND expires_at > ? AND ${liveSession}`,
      now,
      rotation.sealedSuccessor,
      rotation.hash,
      now,
    ),
    statement(
      `INSERT INTO _refresh_tokens (hash, session_id, created_at, expires_at)
      SELECT ?, session_id, used_at, ? FROM _refresh_tokens WHERE hash = ? AND changes() = 1`,
      rotation.successorHash,
      BigInt(rotation.successorExpiresAtMs),
      rotation.hash,
    ),
    revokeReused(rotation.hash, rotation.now, rotation.graceMs),
    statement(
      `SELECT t.used_at, ${familyTime} AS now, t.successor, s.id AS session_id, s.revoked_at, u.id, u.email, u.role, u.disabled
      FROM _refresh_tokens t JOIN _sessions s ON s.id = t.session_id JOIN _users u ON u.id = s.user_id
      WHERE t.hash = ?`,
      now,
      rotation.hash,
    ),
  ];
}

/**
 * SQL: the current time, but never before any event of the tokens in the session of token `t`, so that setting the
 * clock back does not open a grace window again that had closed.
 */
const familyTime = `max(?, (SELECT max(max(f.created_at, ifnull(f.used_at, 0)))
  FROM _refresh_tokens f WHERE f.session_id = t.session_id))`;

/** Using a token again after its grace window ends the whole session (RFC 9700, section 4.14.2). */
function revokeReused(hash: string, now: number, graceMs: number): Statement {
  return statement(
    `UPDATE _sessions SET revoked_at = ? WHERE revoked_at IS NULL AND id =
    (SELECT t.session_id FROM _refresh_tokens t
    WHERE t.hash = ? AND t.used_at IS NOT NULL AND ${familyTime} - t.used_at > ?)`,
    BigInt(now),
    hash,
    BigInt(now),
    BigInt(graceMs),
  );
}

/**
 * Ends the session of a refresh token. The last statement returns `[id, user_id]` of the session, or no row where the token was not
 * live.
 */
export function revokeByRefreshToken(hash: string, now: number, graceMs: number): readonly Statement[] {
  return [
    revokeReused(hash, now, graceMs),
    statement(
      `UPDATE _sessions SET revoked_at = ? WHERE revoked_at IS NULL AND id =
      (SELECT session_id FROM _refresh_tokens WHERE hash = ? AND expires_at > ?) RETURNING id, user_id`,
      BigInt(now),
      hash,
      BigInt(now),
    ),
  ];
}

/** Ends every session of a user. Returns the id of each that was live. */
export function revokeSessions(userId: string, now: number): Statement {
  return statement(
    "UPDATE _sessions SET revoked_at = ? WHERE user_id = ? AND revoked_at IS NULL RETURNING id",
    BigInt(now),
    userId,
  );
}

/** As `revokeSessions`, for one batch behind `changePassword`: it does nothing where that changed nothing. */
export function revokeSessionsIfChanged(userId: string, passwordHash: string, now: number): Statement {
  return statement(
    `UPDATE _sessions SET revoked_at = ? WHERE user_id = ? AND revoked_at IS NULL
    AND EXISTS (SELECT 1 FROM _users WHERE id = user_id AND password_hash = ?) RETURNING id`,
    BigInt(now),
    userId,
    passwordHash,
  );
}
