import { type Statement, statement } from "../../platform/database.js";

/** Which rows `purgeStatements` removes, and how many at once. */
export interface PurgeLimits {
  /** The current time, in milliseconds since the epoch. */
  readonly now: number;
  /** How many rows a statement removes at most, so that none holds the write lock for long. */
  readonly rowsMax: number;
  readonly graceMs: number;
  readonly accessTokenMs: number;
  /** How long a session lasts from its beginning, however often its tokens were renewed. */
  readonly sessionMaxAgeMs: number;
  /**
   * How long expired links are kept: a new verification link still takes over the password that an expired one carries.
   */
  readonly linkKeepMs: number;
  /** How long it is kept what became of a mail. */
  readonly mailKeepMs: number;
}

/**
 * The statements that remove sessions, refresh tokens, mailed links, past mails and the setup link that have ended and are
 * not needed any more.
 */
export function purgeStatements(limits: PurgeLimits): readonly Statement[] {
  const { now, rowsMax, graceMs, accessTokenMs, sessionMaxAgeMs, linkKeepMs, mailKeepMs } = limits;
  const max = BigInt(rowsMax);
  // A session is kept until the access token that came with its last refresh token has expired, because that token
  // needs its session, and may expire later than the refresh token.
  const endedBefore = BigInt(now - accessTokenMs);
  return [
    statement(
      `DELETE FROM _refresh_tokens WHERE hash IN
      (SELECT hash FROM _refresh_tokens WHERE successor IS NOT NULL AND used_at < ? AND generation > 0 LIMIT ?)`,
      BigInt(now - graceMs),
      max,
    ),
    // Tokens that release 0.1.0 has given out stay stored, without their successor: when they are used again, only
    // their row tells which session they belong to.
    statement(
      `UPDATE _refresh_tokens SET successor = NULL WHERE hash IN
      (SELECT hash FROM _refresh_tokens WHERE successor IS NOT NULL AND used_at < ? LIMIT ?)`,
      BigInt(now - graceMs),
      max,
    ),
    statement(
      "DELETE FROM _sessions WHERE id IN (SELECT id FROM _sessions WHERE revoked_at IS NOT NULL LIMIT ?)",
      max,
    ),
    statement(
      "DELETE FROM _sessions WHERE id IN (SELECT id FROM _sessions WHERE created_at <= ? ORDER BY created_at LIMIT ?)",
      BigInt(now - sessionMaxAgeMs),
      max,
    ),
    // Those of the console, which alone have an end of their own.
    statement(
      "DELETE FROM _sessions WHERE id IN (SELECT id FROM _sessions WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)",
      BigInt(now),
      max,
    ),
    statement("DELETE FROM _setup WHERE expires_at <= ?", BigInt(now)),
    statement(
      `DELETE FROM _sessions WHERE id IN
      (SELECT session_id FROM _refresh_tokens WHERE expires_at < ? ORDER BY expires_at LIMIT ?)
      AND NOT EXISTS (SELECT 1 FROM _refresh_tokens t WHERE t.session_id = _sessions.id AND t.expires_at >= ?)`,
      endedBefore,
      max,
      endedBefore,
    ),
    statement(
      `DELETE FROM _refresh_tokens WHERE hash IN
      (SELECT hash FROM _refresh_tokens WHERE expires_at < ? ORDER BY expires_at LIMIT ?)`,
      endedBefore,
      max,
    ),
    statement(
      `DELETE FROM _links WHERE id IN
      (SELECT id FROM _links WHERE expires_at < ? ORDER BY expires_at LIMIT ?)`,
      BigInt(now - linkKeepMs),
      max,
    ),
    statement(
      `DELETE FROM _past_mails WHERE id IN
      (SELECT id FROM _past_mails WHERE ended_at < ? ORDER BY ended_at LIMIT ?)`,
      BigInt(now - mailKeepMs),
      max,
    ),
  ];
}

/** Removes counters of failed passwords, mails and requests whose time has ended. */
export function purgeCounters(now: number, rowsMax: number): Statement {
  return statement(
    `DELETE FROM _throttle WHERE key IN
    (SELECT key FROM _throttle WHERE ends_at <= ? ORDER BY ends_at LIMIT ?)`,
    BigInt(now),
    BigInt(rowsMax),
  );
}
