import { type Statement, statement } from "../../platform/database.js";
import { combined, effect, type Query, type ResultRow, rowOf, together } from "../../platform/query.js";
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

/** The user whom a session was opened for. */
export interface SessionHolder {
  readonly id: string;
  readonly email: string;
  readonly role: string;
}

/** Reads `[id, email, role]`, as the statements return them that open sessions. */
export function sessionHolder([id, email, role]: ResultRow): SessionHolder {
  return { id: id as string, email: email as string, role: role as string };
}

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
  const statements = [
    statement(
      `INSERT INTO _sessions (id, user_id, created_at, latest_at, family)
      SELECT ?, u.id, ?, ?, ? FROM _users u WHERE u.disabled = 0 AND (${holder.sql})
      RETURNING user_id, (SELECT email FROM _users WHERE id = user_id), (SELECT role FROM _users WHERE id = user_id)`,
      session.id,
      BigInt(session.now),
      BigInt(session.now),
      session.familyHash,
      ...holder.params,
    ),
    statement(
      `INSERT INTO _refresh_tokens (hash, session_id, generation, created_at, expires_at)
      SELECT ?, id, 1, ?, ? FROM _sessions WHERE id = ?`,
      session.refreshTokenHash,
      BigInt(session.now),
      BigInt(session.refreshExpiresAtMs),
      session.id,
    ),
    endSurplusSessions(session.id),
  ];
  return rowOf(statements, sessionHolder);
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

/**
 * A refresh token that was presented, with the hash of its family (`familyOf`). Times are milliseconds since the epoch.
 */
export interface PresentedToken {
  readonly hash: string;
  readonly familyHash: string;
  readonly now: number;
  readonly graceMs: number;
  /** For how many milliseconds a session lasts from its beginning, however often its tokens were renewed. */
  readonly sessionMaxAgeMs: number;
}

/** A refresh token that was presented, and the new token that is to replace it. */
export interface Rotation extends PresentedToken {
  readonly successorHash: string;
  /** The new refresh token, encrypted under a key that cannot be derived without the old token. */
  readonly sealedSuccessor: string;
  readonly successorExpiresAtMs: number;
}

/**
 * How many used refresh tokens of a session are kept while their grace window lasts, so that nobody fills the database
 * by refreshing without a pause. Older ones are deleted earlier: if one of them is used again, the session ends, just
 * as after the grace window.
 */
const usedTokensMax = 100;

/**
 * Marks a refresh token as used and stores its successor, if it is live and not used yet. If it
 * was used before and its grace window has ended, or it is an old one that is no longer stored (`revokeReused`), they
 * end its session instead; whether the window has ended is decided by these statements alone. Returns what is then
 * known of the token, for `judgeRotation` in `refresh-rotation.ts`.
 */
export function rotateRefreshToken(rotation: Rotation): Query<Rotated> {
  const { hash, successorHash, graceMs, sessionMaxAgeMs } = rotation;
  const now = BigInt(rotation.now);
  const sessionsSince = BigInt(rotation.now - sessionMaxAgeMs);
  const rotate = [
    statement(
      `UPDATE _refresh_tokens AS t SET used_at = ${familyTime}, successor = ?
      WHERE hash = ? AND used_at IS NULL AND expires_at > ? AND EXISTS (SELECT 1 FROM _sessions s JOIN _users u
        ON u.id = s.user_id WHERE s.id = session_id AND s.revoked_at IS NULL AND s.created_at > ? AND u.disabled = 0)`,
      now,
      rotation.sealedSuccessor,
      hash,
      now,
      sessionsSince,
    ),
    statement(
      `INSERT INTO _refresh_tokens (hash, session_id, generation, created_at, expires_at)
      SELECT ?, s.id, t.generation + 1, t.used_at, min(?, s.created_at + ?)
      FROM _refresh_tokens t JOIN _sessions s ON s.id = t.session_id WHERE t.hash = ? AND changes() = 1`,
      successorHash,
      BigInt(rotation.successorExpiresAtMs),
      BigInt(sessionMaxAgeMs),
      hash,
    ),
    statement(
      // Sessions of release 0.1.0 were stored without the hash of their family (the characters that all refresh tokens
      // of a session share, `familyOf`). They get it with their first refresh.
      `UPDATE _sessions SET latest_at = t.created_at, family = ifnull(family, ?)
      FROM _refresh_tokens t WHERE t.hash = ? AND _sessions.id = t.session_id`,
      rotation.familyHash,
      successorHash,
    ),
    statement(
      // A refresh adds one token to the session and removes up to two used ones, so that a session with more than the
      // allowed number gets rid of them.
      `DELETE FROM _refresh_tokens WHERE hash IN (SELECT o.hash FROM _refresh_tokens t JOIN _refresh_tokens o
        ON o.session_id = t.session_id AND o.generation > 0 WHERE t.hash = ? ORDER BY o.generation LIMIT 2)
      AND (used_at < ? OR generation < (SELECT generation FROM _refresh_tokens WHERE hash = ?) - ?)`,
      successorHash,
      BigInt(rotation.now - graceMs),
      successorHash,
      BigInt(usedTokensMax),
    ),
  ];
  const token = statement(
    `SELECT t.used_at, t.successor, s.id AS session_id, s.revoked_at IS NOT NULL OR s.created_at <= ? AS ended,
        u.id, u.email, u.role, u.disabled
      FROM _refresh_tokens t JOIN _sessions s ON s.id = t.session_id JOIN _users u ON u.id = s.user_id
      WHERE t.hash = ?`,
    sessionsSince,
    hash,
  );
  return combined(
    together(effect(...rotate), revokeReused(rotation), rowOf(token, tokenFacts)),
    ([, isReused, facts]) => ({ facts, isReused }),
  );
}

/** What the batch of a refresh has found and done. */
export interface Rotated {
  /** Null where the token is not stored. */
  readonly facts: TokenFacts | null;
  /** Whether the token was used again too late, so that the batch has ended its session. */
  readonly isReused: boolean;
}

/** What is stored of a presented refresh token after the batch of a refresh. Times are milliseconds since the epoch. */
export interface TokenFacts {
  readonly usedAtMs: number | null;
  readonly sealedSuccessor: string | null;
  readonly sessionId: string;
  /** Whether the token's session was revoked or is over its maximum age. */
  readonly sessionEnded: boolean;
  readonly user: SessionHolder & { readonly disabled: boolean };
}

function tokenFacts(row: ResultRow): TokenFacts {
  const [usedAtMs, sealed, sessionId, ended, id, email, role, disabled] = row;
  return {
    usedAtMs: usedAtMs as number | null,
    sealedSuccessor: sealed as string | null,
    sessionId: sessionId as string,
    sessionEnded: ended === 1,
    user: { id: id as string, email: email as string, role: role as string, disabled: disabled === 1 },
  };
}

/**
 * SQL: the current time, but never earlier than the latest time that is stored for the session of token `t`. So a grace
 * window that has ended does not begin again when the clock is set back.
 */
const familyTime = "max(?, (SELECT f.latest_at FROM _sessions f WHERE f.id = t.session_id))";

/**
 * Ends the whole session of a refresh token that is used again after its grace window (RFC 9700, section 4.14.2). Such
 * a token is stored as used, or it is no longer stored but begins with the family of the session (`familyOf`). Tokens
 * that release 0.1.0 has given out and seen used have no family; they stay stored until they expire, so that they are
 * recognised. Returns whether it has ended a session.
 */
function revokeReused({ hash, familyHash, now, graceMs }: PresentedToken): Query<boolean> {
  const revoke = statement(
    `UPDATE _sessions SET revoked_at = ? WHERE revoked_at IS NULL AND id = ifnull(
      (SELECT t.session_id FROM _refresh_tokens t
        WHERE t.hash = ? AND t.used_at IS NOT NULL AND ${familyTime} - t.used_at > ?),
      (SELECT s.id FROM _sessions s WHERE s.family = ? AND NOT EXISTS (SELECT 1 FROM _refresh_tokens WHERE hash = ?)))`,
    BigInt(now),
    hash,
    BigInt(now),
    BigInt(graceMs),
    familyHash,
    hash,
  );
  return { statements: [revoke], read: ([revoked]) => revoked!.rowsWritten > 0 };
}

/**
 * Ends the session of a refresh token, for a logout. Returns the session's user; null where the token is unknown or
 * expired, or its session had ended already. An old token that is used again too late ends its session as well
 * (`revokeReused`): then `isReused` is true, and the user is null.
 */
export function revokeByRefreshToken(
  token: PresentedToken,
): Query<{ readonly userId: string | null; readonly isReused: boolean }> {
  const now = BigInt(token.now);
  const revoke = statement(
    `UPDATE _sessions SET revoked_at = ? WHERE revoked_at IS NULL AND created_at > ? AND id =
      (SELECT session_id FROM _refresh_tokens WHERE hash = ? AND expires_at > ?) RETURNING id, user_id`,
    now,
    BigInt(token.now - token.sessionMaxAgeMs),
    token.hash,
    now,
  );
  return combined(
    together(
      revokeReused(token),
      rowOf(revoke, ([, userId]) => userId as string),
    ),
    ([isReused, userId]) => ({ isReused, userId }),
  );
}

/** Makes the statement that ends every session of a user. It returns the id of each one that was not ended before. */
export function revokeSessions(userId: string, now: number): Statement {
  return statement(
    "UPDATE _sessions SET revoked_at = ? WHERE user_id = ? AND revoked_at IS NULL RETURNING id",
    BigInt(now),
    userId,
  );
}

/** Ends every session of everybody. `rowsWritten` of the result is how many sessions had not been ended before. */
export function revokeEverySession(now: number): Statement {
  return statement("UPDATE _sessions SET revoked_at = ? WHERE revoked_at IS NULL", BigInt(now));
}

/**
 * Makes the statement that ends every session of a user whose password was changed, and returns the id of each that was
 * not ended before. It goes into one batch behind `changePassword`, and does nothing if that changed no password.
 */
export function revokeSessionsIfChanged(userId: string, passwordHash: string, now: number): Statement {
  return statement(
    `UPDATE _sessions SET revoked_at = ? WHERE user_id = ? AND revoked_at IS NULL
    AND EXISTS (SELECT 1 FROM _users WHERE id = user_id AND password_hash = ?) RETURNING id`,
    BigInt(now),
    userId,
    passwordHash,
  );
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

/**
 * Makes the statement that returns `[id, kind, created_at, latest_at, expires_at]` of the sessions of a user that have
 * not ended, the most recently used first.
 */
export function sessionsOf({ userId, ...times }: SessionsRequest): Statement {
  return statement(
    `SELECT id, kind, created_at, latest_at, expires_at FROM (${unended} AND s.user_id = ?)
    WHERE expires_at > ? ORDER BY latest_at DESC, id`,
    ...unendedParams(times),
    userId,
    BigInt(times.now),
  );
}

/** Which page is asked for of the list of sessions, and whether of one user or of all. */
export interface SessionsPage extends SessionTimes {
  /** The user whose sessions are listed; null for those of everybody. */
  readonly userId: string | null;
  /** The time and the id of the session behind which the page begins; null to begin with the newest session. */
  readonly after: readonly [createdAtMs: number, id: string] | null;
  readonly limit: number;
}

/**
 * Makes the statement that returns `[id, user_id, kind, created_at, latest_at, expires_at]` of a page of the sessions
 * that have not ended, the most recently begun first.
 */
export function sessionsPage({ userId, after, limit, ...times }: SessionsPage): Statement {
  const ofUser = userId === null ? "" : "AND s.user_id = ?";
  const behind = after === null ? "" : "AND (s.created_at, s.id) < (?, ?)";
  return statement(
    `SELECT id, user_id, kind, created_at, latest_at, expires_at FROM (${unended} ${ofUser} ${behind})
    WHERE expires_at > ? ORDER BY created_at DESC, id DESC LIMIT ?`,
    ...unendedParams(times),
    ...(userId === null ? [] : [userId]),
    ...(after === null ? [] : [BigInt(after[0]), after[1]]),
    BigInt(times.now),
    BigInt(limit),
  );
}

/**
 * Makes the statement that ends a session, if it is this user's; with null, whichever user it belongs to. It returns
 * the user's id; no row where there is no such session, it was ended before, or it is another user's.
 */
export function endSession(id: string, userId: string | null, now: number): Statement {
  return statement(
    `UPDATE _sessions SET revoked_at = ? WHERE id = ? AND user_id = ifnull(?, user_id) AND revoked_at IS NULL
    RETURNING user_id`,
    BigInt(now),
    id,
    userId,
  );
}
