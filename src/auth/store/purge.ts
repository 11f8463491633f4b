import { type Statement, statement } from "../../platform/database.js";
import { refreshDelayMaxMs } from "./refresh-tokens.js";

/** Which rows `purgeStatements` removes, and how many at once. */
export interface PurgeLimits {
  /** The current time, in milliseconds since the epoch. */
  readonly now: number;
  /** How many rows a statement removes at most, so that it does not hold the write lock for long. */
  readonly rowsMax: number;
  readonly graceMs: number;
  readonly accessTokenMs: number;
  /** For how many milliseconds a session lasts from its beginning, however often its tokens were renewed. */
  readonly sessionMaxAgeMs: number;
  /**
   * For how many milliseconds mailed links are kept after they have expired: a new verification link still takes over
   * the password that an expired one holds.
   */
  readonly linkKeepMs: number;
  /** For how many milliseconds after a mail has ended (sent, failed or dropped) its row in `_past_mails` is kept. */
  readonly mailKeepMs: number;
}

/**
 * Makes the statements that remove what has ended and is not needed any more: sessions, refresh tokens, mailed links,
 * records of past mails, and the setup link.
 */
export function purgeStatements(limits: PurgeLimits): readonly Statement[] {
  const { now, rowsMax, graceMs, accessTokenMs, sessionMaxAgeMs, linkKeepMs, mailKeepMs } = limits;
  const max = BigInt(rowsMax);
  // A session is kept until the access token that came with its last refresh token has expired, too: an access token is
  // valid only while its session is stored, and may expire later than the refresh token.
  const endedBefore = BigInt(now - accessTokenMs);
  const windowsEndedBefore = BigInt(now - graceMs - refreshDelayMaxMs);
  return [
    statement(
      `DELETE FROM _refresh_tokens WHERE hash IN
      (SELECT hash FROM _refresh_tokens WHERE successor IS NOT NULL AND used_at < ? AND generation > 0 LIMIT ?)`,
      windowsEndedBefore,
      max,
    ),
    // Refresh tokens that release 0.1.0 has given out are not deleted once used, only their successor is: if such a
    // token is used again, nothing but its row tells which session it belongs to.
    statement(
      `UPDATE _refresh_tokens SET successor = NULL WHERE hash IN
      (SELECT hash FROM _refresh_tokens WHERE successor IS NOT NULL AND used_at < ? LIMIT ?)`,
      windowsEndedBefore,
      max,
    ),
    statement("DELETE FROM _sessions WHERE id IN (SELECT id FROM _sessions WHERE revoked_at IS NOT NULL LIMIT ?)", max),
    statement(
      "DELETE FROM _sessions WHERE id IN (SELECT id FROM _sessions WHERE created_at <= ? ORDER BY created_at LIMIT ?)",
      BigInt(now - sessionMaxAgeMs),
      max,
    ),
    // Deletes sessions of the console that have ended. Only these have a time of their own at which they end
    // (`expires_at`).
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

/** Removes counters of failed passwords, mails and requests whose time is over. */
export function purgeCounters(now: number, rowsMax: number): Statement {
  return statement(
    `DELETE FROM _throttle WHERE key IN
    (SELECT key FROM _throttle WHERE ends_at <= ? ORDER BY ends_at LIMIT ?)`,
    BigInt(now),
    BigInt(rowsMax),
  );
}
