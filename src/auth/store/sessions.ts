import { type Statement, statement } from "../../platform/database.js";
import { asIs, columns, followedBy, type Query, rowCount, rowOf, rowsOf, rowsWritten } from "../../platform/query.js";
import { type Condition, condition } from "./condition.js";

/**
 * A session that is not stored yet, with the hash of its first refresh token and that of the family, the characters
 * which all refresh tokens of the session share (`familyOf`). Times are milliseconds since the epoch.
 */
export interface NewSession {
  readonly id: string;
  readonly refreshTokenHash: string;
  readonly familyHash: string;
  readonly now: number;
  readonly refreshExpiresAtMs: number;
}

/** Reads what the statements return that open sessions. */
export const sessionHolder = columns({ id: asIs<string>, email: asIs<string>, role: asIs<string> });
/** The user whom a session was opened for. */
export type SessionHolder = ReturnType<typeof sessionHolder>;

/**
 * How many sessions of one user are kept, so that nobody fills the database by signing in. One more session ends the
 * one that has not been used for longest.
 */
const sessionsMax = 1_000;
/** How many surplus sessions of a user a sign-in ends at most, so that it does not hold the write lock for long. */
const endedAtOnceMax = 500;

/**
 * Opens a session for the enabled user whom `holder` finds, a condition on the columns of
 * `_users AS u` that matches at most one user. Returns that user; null where nobody was found.
 */
export function openSession(session: NewSession, holder: Condition): Query<SessionHolder | null> {
  const insert = statement(
    `INSERT INTO _sessions (id, user_id, created_at, latest_at, family)
      SELECT ?, u.id, ?, ?, ? FROM _users u WHERE u.disabled = 0 AND (${holder.sql})
      RETURNING user_id, (SELECT email FROM _users WHERE id = user_id), (SELECT role FROM _users WHERE id = user_id)`,
    session.id,
    BigInt(session.now),
    BigInt(session.now),
    session.familyHash,
    ...holder.params,
  );
  return followedBy(
    rowOf(insert, sessionHolder),
    statement(
      `INSERT INTO _refresh_tokens (hash, session_id, generation, created_at, expires_at)
      SELECT ?, id, 1, ?, ? FROM _sessions WHERE id = ?`,
      session.refreshTokenHash,
      BigInt(session.now),
      BigInt(session.refreshExpiresAtMs),
      session.id,
    ),
    endSurplusSessions(session.id),
  );
}

/**
 * Deletes sessions of a user who has more than `sessionsMax` stored, `endedAtOnceMax` at most. Those that were used
 * last stay, and any that has been revoked goes rather than one that has not. The user is that of the session
 * `openedId`, which was just opened and stays.
 */
export function endSurplusSessions(openedId: string): Statement {
  return statement(
    `DELETE FROM _sessions WHERE id IN (
      SELECT id FROM _sessions WHERE user_id = (SELECT user_id FROM _sessions WHERE id = ?)
      ORDER BY id = ? DESC, revoked_at IS NULL DESC, latest_at DESC LIMIT ${endedAtOnceMax} OFFSET ${sessionsMax})`,
    openedId,
    openedId,
  );
}

/** Ends every session of a user. Returns how many were not ended before. */
export function revokeSessions(userId: string, now: number): Query<number> {
  const revoke = statement(
    "UPDATE _sessions SET revoked_at = ? WHERE user_id = ? AND revoked_at IS NULL RETURNING id",
    BigInt(now),
    userId,
  );
  return rowCount(revoke);
}

/** Ends every session of everybody. Returns how many were not ended before. */
export function revokeEverySession(now: number): Query<number> {
  return rowsWritten(statement("UPDATE _sessions SET revoked_at = ? WHERE revoked_at IS NULL", BigInt(now)));
}

/**
 * Ends every session of a user whose password was changed. Returns how many were not ended before. It goes into one
 * batch behind `changePassword`, and does nothing if that changed no password.
 */
export function revokeSessionsIfChanged(userId: string, passwordHash: string, now: number): Query<number> {
  const revoke = statement(
    `UPDATE _sessions SET revoked_at = ? WHERE user_id = ? AND revoked_at IS NULL
    AND EXISTS (SELECT 1 FROM _users WHERE id = user_id AND password_hash = ?) RETURNING id`,
    BigInt(now),
    userId,
    passwordHash,
  );
  return rowCount(revoke);
}

/** A user and the session by which they call. */
interface SessionOfUser {
  readonly id: string;
  readonly sessionId: string;
}

const callersSession = "u.id = s.user_id AND s.id = ? AND s.revoked_at IS NULL";
const caller = "u.id = ? AND u.disabled = 0";

/**
 * Makes a condition on `_users AS u` that matches the caller's row, as long as the user is enabled, the session is not
 * revoked, and the password's hash is still the one that was checked.
 */
export function callerWithPassword({ id, sessionId }: SessionOfUser, passwordHash: string): Condition {
  return condition(
    `${caller} AND u.password_hash = ? AND EXISTS (SELECT 1 FROM _sessions s WHERE ${callersSession})`,
    id,
    passwordHash,
    sessionId,
  );
}

/**
 * Makes a condition on `_users AS u` that matches the caller's row, if the user is enabled, the account has no
 * password, and the session is not revoked and began after `since` (milliseconds since the epoch).
 */
export function callerSignedInSince({ id, sessionId }: SessionOfUser, since: number): Condition {
  return condition(
    `${caller} AND u.password_hash IS NULL
    AND EXISTS (SELECT 1 FROM _sessions s WHERE ${callersSession} AND s.created_at > ?)`,
    id,
    sessionId,
    BigInt(since),
  );
}

/**
 * The current time, and how long sessions and access tokens last, from which it is computed which sessions have ended.
 * Times are milliseconds.
 */
export interface SessionTimes {
  readonly now: number;
  readonly accessTokenMs: number;
  readonly sessionMaxAgeMs: number;
}

/** Whose sessions are listed, and the times that decide which of them have ended. */
export interface SessionsRequest extends SessionTimes {
  readonly userId: string;
}

const newestToken = `SELECT t.expires_at FROM _refresh_tokens t WHERE t.session_id = s.id
      ORDER BY t.generation DESC, t.expires_at DESC LIMIT 1`;

/**
 * SQL: a SELECT of the sessions that were not revoked, with the time at which each ends; more conditions may be added
 * behind it. A session ends when its newest refresh token expires, or when the access token that came with it does if
 * that is later. A session of the console has a stored time at which it ends. No session outlasts the maximum age.
 */
const unended = `SELECT s.id, s.user_id, s.kind, s.created_at, s.latest_at,
        min(ifnull(s.expires_at, max(ifnull((${newestToken}), 0), s.latest_at + ?)), s.created_at + ?) AS expires_at
      FROM _sessions s WHERE s.revoked_at IS NULL`;
const unendedParams = ({ accessTokenMs, sessionMaxAgeMs }: SessionTimes) => [
  BigInt(accessTokenMs),
  BigInt(sessionMaxAgeMs),
];

const sessionReaders = {
  /** `tokens` for a session with an access token and a refresh token, `console` for one of the console. */
  kind: asIs<"tokens" | "console">,
  createdAtMs: asIs<number>,
  /** When the session was last used. */
  latestAtMs: asIs<number>,
  expiresAtMs: asIs<number>,
};
const storedSession = columns({ id: asIs<string>, ...sessionReaders });
const usersSession = columns({ id: asIs<string>, userId: asIs<string>, ...sessionReaders });

/** A session that is stored. Times are milliseconds since the epoch. */
export type StoredSession = ReturnType<typeof storedSession>;
/** A session, and whose it is. */
export type UsersSession = ReturnType<typeof usersSession>;

/** The sessions of a user that have not ended, the most recently used first. */
export function sessionsOf({ userId, ...times }: SessionsRequest): Query<readonly StoredSession[]> {
  const select = statement(
    `SELECT id, kind, created_at, latest_at, expires_at FROM (${unended} AND s.user_id = ?)
    WHERE expires_at > ? ORDER BY latest_at DESC, id`,
    ...unendedParams(times),
    userId,
    BigInt(times.now),
  );
  return rowsOf(select, storedSession);
}

/** Which page is asked for of the list of sessions, and whether of one user or of all. */
export interface SessionsPage extends SessionTimes {
  /** The user whose sessions are listed; null for those of everybody. */
  readonly userId: string | null;
  /** The time and the id of the session behind which the page begins; null to begin with the newest session. */
  readonly after: readonly [createdAtMs: number, id: string] | null;
  readonly limit: number;
}

/** A page of the sessions that have not ended, the most recently begun first. */
export function sessionsPage(asked: SessionsPage): Query<readonly UsersSession[]> {
  const { userId, after, limit, ...times } = asked;
  const ofUser = userId === null ? "" : "AND s.user_id = ?";
  const behind = after === null ? "" : "AND (s.created_at, s.id) < (?, ?)";
  const select = statement(
    `SELECT id, user_id, kind, created_at, latest_at, expires_at FROM (${unended} ${ofUser} ${behind})
    WHERE expires_at > ? ORDER BY created_at DESC, id DESC LIMIT ?`,
    ...unendedParams(times),
    ...(userId === null ? [] : [userId]),
    ...(after === null ? [] : [BigInt(after[0]), after[1]]),
    BigInt(times.now),
    BigInt(limit),
  );
  return rowsOf(select, usersSession);
}

/**
 * Ends a session, if it is this user's; with null, whichever user it belongs to. Returns the user's id; null where there
 * is no such session, it was ended before, or it is another user's.
 */
export function endSession(id: string, userId: string | null, now: number): Query<string | null> {
  const end = statement(
    `UPDATE _sessions SET revoked_at = ? WHERE id = ? AND user_id = ifnull(?, user_id) AND revoked_at IS NULL
    RETURNING user_id`,
    BigInt(now),
    id,
    userId,
  );
  return rowOf(end, ([user]) => user as string);
}
