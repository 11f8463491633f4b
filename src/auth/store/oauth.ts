import type { Statement } from "../../platform/database.js";
import { insertRefreshToken } from "./sessions.js";
import { statement } from "./statement.js";

export interface NewState {
  /** Of the state; it is stored nowhere itself. */
  readonly hash: string;
  readonly provider: string;
  readonly redirectTo: string;
  /** The application's own (RFC 7636): only who holds its verifier gets the tokens. */
  readonly codeChallenge: string;
  readonly now: number;
  readonly expiresAtMs: number;
}

export function insertState(state: NewState): Statement {
  return statement(
    `INSERT INTO _oauth_states (hash, provider, redirect_to, code_challenge, created_at, expires_at)
    VALUES (?, ?, ?, ?, ?, ?)`,
    state.hash,
    state.provider,
    state.redirectTo,
    state.codeChallenge,
    BigInt(state.now),
    BigInt(state.expiresAtMs),
  );
}

/** `[redirect_to, code_challenge]`; no row where the state is unknown, used, expired or another provider's. */
export function consumeState(hash: string, provider: string, now: number): Statement {
  return statement(
    `UPDATE _oauth_states SET used_at = ? WHERE hash = ? AND provider = ? AND used_at IS NULL AND expires_at > ?
    RETURNING redirect_to, code_challenge`,
    BigInt(now),
    hash,
    provider,
    BigInt(now),
  );
}

const purgedMax = 20;

/** Removes what has expired, a few at a time: whoever begins a sign-in takes more away than they add. */
export function purgeSignIns(now: number): readonly Statement[] {
  return ["_oauth_states", "_oauth_codes"].map((table) =>
    statement(
      `DELETE FROM ${table} WHERE hash IN
      (SELECT hash FROM ${table} WHERE expires_at <= ? ORDER BY expires_at LIMIT ${purgedMax})`,
      BigInt(now),
    ),
  );
}

export interface Exchange {
  /** Of the code. */
  readonly hash: string;
  /** S256 of the verifier that was presented. */
  readonly codeChallenge: string;
  readonly session: {
    readonly id: string;
    readonly refreshTokenHash: string;
    readonly now: number;
    readonly refreshExpiresAtMs: number;
  };
}

/**
 * Consumes an exchange code, whatever was presented with it, and opens a session where the code is live, the challenge
 * fits and the user is enabled. The last statement returns `[id, email, role]` of its user, no row otherwise.
 */
export function exchangeCode({ hash, codeChallenge, session }: Exchange): readonly Statement[] {
  const now = BigInt(session.now);
  return [
    statement("UPDATE _oauth_codes SET used_at = ? WHERE hash = ? AND used_at IS NULL", now, hash),
    statement(
      `INSERT INTO _sessions (id, user_id, created_at)
      SELECT ?, u.id, ? FROM _oauth_codes c JOIN _users u ON u.id = c.user_id
      WHERE changes() = 1 AND c.hash = ? AND c.expires_at > ? AND c.code_challenge = ? AND u.disabled = 0`,
      session.id,
      now,
      hash,
      now,
      codeChallenge,
    ),
    insertRefreshToken(session),
    statement(
      "SELECT u.id, u.email, u.role FROM _sessions s JOIN _users u ON u.id = s.user_id WHERE s.id = ?",
      session.id,
    ),
  ];
}

/** What waits to be exchanged ends with the sessions of its user. */
export function deleteCodes(userId: string): Statement {
  return statement("DELETE FROM _oauth_codes WHERE user_id = ?", userId);
}

/** `[id]`: the project's random id. */
export function projectId(): Statement {
  return statement("SELECT id FROM _project");
}

/** Of a database that takes the place of another: credentials sealed for that one fit it. */
export function setProjectId(id: string): Statement {
  return statement("UPDATE _project SET id = ?", id);
}
