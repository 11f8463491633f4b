import type { Keyring } from "../../encoding/keyring.js";
import { type Statement, statement } from "../../platform/database.js";
import { asIs, columns, onlyRow, type Query, rowOf } from "../../platform/query.js";
import { type Condition, condition } from "./condition.js";

/** The state of a social sign-in that begins, to be stored. Times are milliseconds since the epoch. */
export interface NewState {
  /** The hash of the state (`FlowSecrets.stateHash`). The state itself is not stored. */
  readonly hash: string;
  readonly provider: string;
  readonly redirectTo: string;
  /**
   * The PKCE challenge (RFC 7636) that the application has sent. It is checked when the application exchanges its code
   * for tokens.
   */
  readonly codeChallenge: string;
  readonly now: number;
  readonly expiresAtMs: number;
}

/** Stores the state of a social sign-in that begins. */
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

const storedState = columns({ hash: asIs<string>, redirectTo: asIs<string>, codeChallenge: asIs<string> });

/**
 * Marks the state of a social sign-in as used. The state is found by either of the two hashes, as the server's secret
 * may have changed since it was stored. Returns what was stored with it; null where the state is unknown, used, expired
 * or another provider's.
 */
export function consumeState(hashes: Keyring<string>, provider: string, now: number) {
  const consume = statement(
    `UPDATE _oauth_states SET used_at = ? WHERE hash IN (?, ?) AND provider = ? AND used_at IS NULL AND expires_at > ?
    RETURNING hash, redirect_to, code_challenge`,
    BigInt(now),
    hashes.current,
    hashes.previous,
    provider,
    BigInt(now),
  );
  return rowOf(consume, storedState);
}

/**
 * Removes expired states and exchange codes of social sign-ins, at most `rowsMax` of each.
 */
export function purgeSignIns(now: number, rowsMax: number): readonly Statement[] {
  return ["_oauth_states", "_oauth_codes"].map((table) =>
    statement(
      `DELETE FROM ${table} WHERE hash IN
      (SELECT hash FROM ${table} WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`,
      BigInt(now),
      BigInt(rowsMax),
    ),
  );
}

/**
 * Marks an exchange code of a social sign-in as used, whether or not the PKCE verifier that came with it is right.
 * `hash` is the hash of the code.
 */
export function consumeCode(hash: string, now: number): Statement {
  return statement("UPDATE _oauth_codes SET used_at = ? WHERE hash = ? AND used_at IS NULL", BigInt(now), hash);
}

/** An exchange code of a social sign-in that was presented, with its PKCE verifier. */
export interface PresentedCode {
  /** The hash of the exchange code. */
  readonly hash: string;
  /** The PKCE challenge (S256) of the verifier that was presented. */
  readonly codeChallenge: string;
  readonly now: number;
}

/**
 * The condition by which `openSession` finds the user of an exchange code. It has to be in one batch directly behind
 * `consumeCode`, because it asks for `changes() = 1`. It matches nobody where the code was used or expired, or was made
 * for another challenge.
 */
export function userOfCode({ hash, codeChallenge, now }: PresentedCode): Condition {
  return condition(
    `changes() = 1 AND u.id =
    (SELECT user_id FROM _oauth_codes WHERE hash = ? AND expires_at > ? AND code_challenge = ?)`,
    hash,
    BigInt(now),
    codeChallenge,
  );
}

/** Deletes the exchange codes (of social sign-ins) of a user. To be run where the user's sessions are ended. */
export function deleteCodes(userId: string): Statement {
  return statement("DELETE FROM _oauth_codes WHERE user_id = ?", userId);
}

/** Deletes all exchange codes (of social sign-ins). To be run where everybody's sessions are ended. */
export function deleteEveryCode(): Statement {
  return statement("DELETE FROM _oauth_codes");
}

/** The random id of the project. */
export function projectId(): Query<string> {
  return onlyRow(statement("SELECT id FROM _project"), ([id]) => id as string);
}

/** Gives the database the id of another project, so that credentials sealed for that project open here. */
export function setProjectId(id: string): Statement {
  return statement("UPDATE _project SET id = ?", id);
}
