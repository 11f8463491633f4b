import { type Statement, statement } from "../../platform/database.js";
import { asFlag, asIs, asJson, columns, hasRow, type Query, rowOf, rowsOf } from "../../platform/query.js";
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

/** Revokes an API key. Returns whether it did: not where there is no such key or it was revoked before. */
export function revokeServiceKey(id: string, now: number): Query<boolean> {
  const revoke = statement(
    "UPDATE _service_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL RETURNING id",
    instant(now),
    id,
  );
  return hasRow(revoke);
}

const listedKey = columns({
  id: asIs<string>,
  name: asIs<string>,
  scopes: asJson<readonly string[]>,
  createdAt: asIs<string>,
  expiresAt: asIs<string | null>,
  revokedAt: asIs<string | null>,
  createdBy: asIs<string | null>,
});
/** An API key, as lists show it. Times are ISO 8601; null for a key that does not expire or is not revoked. */
export type ListedServiceKey = ReturnType<typeof listedKey>;

/** Every API key, the revoked and expired ones included. */
export function listServiceKeys(): Query<readonly ListedServiceKey[]> {
  const select = statement(
    `SELECT id, name, scopes, created_at, expires_at, revoked_at, created_by
    FROM _service_keys ORDER BY created_at, id`,
  );
  return rowsOf(select, listedKey);
}

const keyState = columns({ scopes: asJson<readonly string[]>, isRevoked: asFlag, isExpired: asFlag });

/** What an API key may do, and whether it is still valid at `now`; null where there is none with this id. */
export function serviceKeyById(id: string, now: number) {
  const select = statement(
    `SELECT scopes, revoked_at IS NOT NULL AS revoked, ifnull(expires_at <= ?, 0) AS expired
    FROM _service_keys WHERE id = ?`,
    instant(now),
    id,
  );
  return rowOf(select, keyState);
}
