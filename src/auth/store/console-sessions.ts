import { statement } from "../../platform/database.js";
import { followedBy, hasRow, type Query, rowOf } from "../../platform/query.js";
import type { Condition } from "./condition.js";
import { endSurplusSessions, type SessionHolder, sessionHolder } from "./sessions.js";

/** A session of the console that is not stored yet. Times are milliseconds since the epoch. */
export interface NewConsoleSession {
  readonly id: string;
  /** The hash of the token in the session's cookie. */
  readonly tokenHash: string;
  readonly now: number;
  readonly expiresAtMs: number;
  /**
   * Until when the session counts as confirmed by its user's password. Until then, nothing asks for the password again.
   */
  readonly confirmedUntilMs: number;
}

/**
 * Opens a session of the console for the enabled administrator whom `holder` finds, a condition on the columns of
 * `_users AS u`. Returns the administrator; null where nobody was found.
 */
export function openConsoleSession(session: NewConsoleSession, holder: Condition): Query<SessionHolder | null> {
  const insert = statement(
    `INSERT INTO _sessions (id, user_id, created_at, latest_at, kind, token_hash, expires_at, confirmed_until)
      SELECT ?, u.id, ?, ?, 'console', ?, ?, ? FROM _users u
      WHERE u.disabled = 0 AND u.role = 'admin' AND (${holder.sql})
      RETURNING user_id, (SELECT email FROM _users WHERE id = user_id), (SELECT role FROM _users WHERE id = user_id)`,
    session.id,
    BigInt(session.now),
    BigInt(session.now),
    session.tokenHash,
    BigInt(session.expiresAtMs),
    BigInt(session.confirmedUntilMs),
    ...holder.params,
  );
  return followedBy(rowOf(insert, sessionHolder), endSurplusSessions(session.id));
}

/** The confirmation of a console's session by typing the password again. Times are milliseconds since the epoch. */
export interface Confirmation {
  readonly sessionId: string;
  readonly userId: string;
  /** The stored hash that the typed password was checked against. */
  readonly passwordHash: string;
  readonly now: number;
  readonly confirmedUntilMs: number;
}

/**
 * Confirms a session of the console, as long as it has not ended, the user is enabled, and the user's password is still
 * the one that was checked. Returns whether it did.
 */
export function confirmConsoleSession(confirmation: Confirmation): Query<boolean> {
  const confirm = statement(
    `UPDATE _sessions SET confirmed_until = ?, latest_at = ?
    WHERE id = ? AND user_id = ? AND kind = 'console' AND revoked_at IS NULL AND expires_at > ?
    AND EXISTS (SELECT 1 FROM _users u WHERE u.id = user_id AND u.password_hash = ? AND u.disabled = 0) RETURNING id`,
    BigInt(confirmation.confirmedUntilMs),
    BigInt(confirmation.now),
    confirmation.sessionId,
    confirmation.userId,
    BigInt(confirmation.now),
    confirmation.passwordHash,
  );
  return hasRow(confirm);
}

/**
 * Ends the session of the console whose token has this hash. Returns the id of the session's user; null where there is
 * no such session or it has ended already.
 */
export function revokeConsoleSession(tokenHash: string, now: number): Query<string | null> {
  const revoke = statement(
    `UPDATE _sessions SET revoked_at = ? WHERE token_hash = ? AND revoked_at IS NULL AND expires_at > ?
    RETURNING user_id`,
    BigInt(now),
    tokenHash,
    BigInt(now),
  );
  return rowOf(revoke, ([userId]) => userId as string);
}
