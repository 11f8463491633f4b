import { statement } from "../../platform/database.js";
import {
  asFlag,
  asIs,
  columns,
  combined,
  effect,
  type Query,
  type ResultRow,
  rowOf,
  rowsWritten,
  together,
} from "../../platform/query.js";

/**
 * A refresh token that was presented, with the hash of its family (`familyOf`). Times are milliseconds since the epoch.
 */
export interface PresentedToken {
  readonly hash: string;
  readonly familyHash: string;
  /** When the request with the token arrived. */
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
 * How long after its arrival a refresh may reach the database, in milliseconds. D1 executes requests in another order
 * than they arrive in while it is busy, and gives up those that wait longer. Used tokens are kept for this long after
 * their grace window, so that a refresh that arrived within the window still finds them.
 */
export const refreshDelayMaxMs = 30_000;

/**
 * Marks a refresh token as used and stores its successor, if it is live and not used yet. If it was used before and its
 * grace window had ended when the request arrived, or if it is an old one that is no longer stored, ends its session
 * instead (`revokeReused`). These statements alone decide whether the window has ended. Returns what is then known of
 * the token, for `judgeRotation` in `refresh-rotation.ts`.
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
      BigInt(rotation.now - graceMs - refreshDelayMaxMs),
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
  // `revokeReused` comes first: without a grace window, it refuses every token that was used before this batch.
  return combined(
    together(revokeReused(rotation), effect(...rotate), rowOf(token, tokenFacts)),
    ([isReused, , facts]) => ({ facts, isReused }),
  );
}

/** What the batch of a refresh has found and done. */
export interface Rotated {
  /** Null where the token is not stored. */
  readonly facts: TokenFacts | null;
  /** Whether the token was used again too late, so that the batch has ended its session. */
  readonly isReused: boolean;
}

const storedToken = columns({
  usedAtMs: asIs<number | null>,
  sealedSuccessor: asIs<string | null>,
  sessionId: asIs<string>,
  /** Whether the token's session was revoked or is over its maximum age. */
  sessionEnded: asFlag,
});
const holder = columns({ id: asIs<string>, email: asIs<string>, role: asIs<string>, disabled: asFlag });
const tokenFacts = (row: ResultRow) => ({ ...storedToken(row), user: holder(row.slice(4)) });

/** What is stored of a presented refresh token after the batch of a refresh. Times are milliseconds since the epoch. */
export type TokenFacts = ReturnType<typeof tokenFacts>;

/** SQL: the latest time that is stored for the session of token `t`. */
const latestAt = "(SELECT f.latest_at FROM _sessions f WHERE f.id = t.session_id)";

/** SQL: the time of the request, but never earlier than the latest time of the session. */
const familyTime = `max(?, ${latestAt})`;

/**
 * SQL: when the request arrived. That is its own time, unless the clock was set back: no request arrives earlier than
 * `refreshDelayMaxMs` before the latest refresh of the session. So a grace window that has ended does not begin again.
 */
const arrivedAt = `max(?, ${latestAt} - ${refreshDelayMaxMs})`;

/**
 * Ends the whole session of a refresh token that is used again after its grace window (RFC 9700, section 4.14.2), or at
 * all if the window has no length. Such a token is stored as used, or it is no longer stored but begins with the family
 * of the session (`familyOf`). Tokens that release 0.1.0 has given out and seen used have no family; they stay stored
 * until they expire, so that they are recognised. Returns whether it has ended a session.
 */
function revokeReused({ hash, familyHash, now, graceMs }: PresentedToken): Query<boolean> {
  const revoke = statement(
    `UPDATE _sessions SET revoked_at = ? WHERE revoked_at IS NULL AND id = ifnull(
      (SELECT t.session_id FROM _refresh_tokens t
        WHERE t.hash = ? AND t.used_at IS NOT NULL AND (? = 0 OR ${arrivedAt} - t.used_at > ?)),
      (SELECT s.id FROM _sessions s WHERE s.family = ? AND NOT EXISTS (SELECT 1 FROM _refresh_tokens WHERE hash = ?)))`,
    BigInt(now),
    hash,
    BigInt(graceMs),
    BigInt(now),
    BigInt(graceMs),
    familyHash,
    hash,
  );
  return combined(rowsWritten(revoke), (count) => count > 0);
}

/**
 * Ends the session of a refresh token, for a logout. Returns the session's user; null where the token is unknown or
 * expired, or its session had ended already. An old token that is used again too late ends its session as well
 * (`revokeReused`): then `isReused` is true, and the user is null.
 */
export function revokeByRefreshToken(token: PresentedToken) {
  const now = BigInt(token.now);
  const revoke = statement(
    `UPDATE _sessions SET revoked_at = ? WHERE revoked_at IS NULL AND created_at > ? AND id =
      (SELECT session_id FROM _refresh_tokens WHERE hash = ? AND expires_at > ?) RETURNING id, user_id`,
    now,
    BigInt(token.now - token.sessionMaxAgeMs),
    token.hash,
    now,
  );
  const ended = rowOf(revoke, ([, userId]) => userId as string);
  return combined(together(revokeReused(token), ended), ([isReused, userId]) => ({ isReused, userId }));
}
