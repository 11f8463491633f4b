import type { Statement } from "../../platform/database.js";
import { type Condition, condition, statement } from "./statement.js";

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

/** Uses an exchange code up, whatever was presented with it. `hash` is that of the code. */
export function consumeCode(hash: string, now: number): Statement {
  return statement(
    "UPDATE _oauth_codes SET used_at = ? WHERE hash = ? AND used_at IS NULL",
    BigInt(now),
    hash,
  );
}

export interface PresentedCode {
  /** Of the code. */
  readonly hash: string;
  /** S256 of the verifier that was presented. */
  readonly codeChallenge: string;
  readonly now: number;
}

/** For `openSession`, in one batch right behind `consumeCode`: the user of the code, where it was live and the challenge fits. */
export function userOfCode({ hash, codeChallenge, now }: PresentedCode): Condition {
  return condition(
    `changes() = 1 AND u.id =
    (SELECT user_id FROM _oauth_codes WHERE hash = ? AND expires_at > ? AND code_challenge = ?)`,
    hash,
    BigInt(now),
    codeChallenge,
  );
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
