import { type Statement, statement } from "../../platform/database.js";
import { instant } from "./instant.js";

/**
 * An API key that is to be stored. Times are milliseconds since the epoch; `expiresAtMs` is null for a key that does
 * not expire.
 */
export interface NewServiceKey {
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  readonly scopes: readonly string[];
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  /** Who creates the key: the text that `principalOf` makes of the caller, or `cli` for the command line. */
  readonly createdBy: string;
}

/** Stores an API key. */
export function insertServiceKey(key: NewServiceKey): Statement {
  return statement(
    `INSERT INTO _service_keys (id, name, hash, scopes, created_at, expires_at, created_by)
    VALUES (?, ?, ?, ?, ?, ?, ?)`,
    key.id,
    key.name,
    key.hash,
    JSON.stringify(key.scopes),
    instant(key.createdAtMs),
    key.expiresAtMs === null ? null : instant(key.expiresAtMs),
    key.createdBy,
  );
}

/**
 * Makes the statement that revokes an API key. It returns the key's id; no row where there is no such key or it was
 * revoked before.
 */
export function revokeServiceKey(id: string, now: number): Statement {
  return statement(
    "UPDATE _service_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL RETURNING id",
    instant(now),
    id,
  );
}

/**
 * Makes the statement that returns `[id, name, scopes, created_at, expires_at, revoked_at, created_by]` of every API
 * key, the revoked and expired ones included. `scopes` is a JSON array.
 */
export function listServiceKeys(): Statement {
  return statement(
    `SELECT id, name, scopes, created_at, expires_at, revoked_at, created_by
    FROM _service_keys ORDER BY created_at, id`,
  );
}

/**
 * Makes the statement that returns `[scopes, revoked, expired]` of an API key, or no row where there is none with this
 * id. `revoked` and `expired` are 1 or 0, as of `now`; `scopes` is a JSON array.
 */
export function serviceKeyById(id: string, now: number): Statement {
  return statement(
    `SELECT scopes, revoked_at IS NOT NULL AS revoked, ifnull(expires_at <= ?, 0) AS expired
    FROM _service_keys WHERE id = ?`,
    instant(now),
    id,
  );
}
