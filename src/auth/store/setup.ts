import { type Statement, statement } from "../../platform/database.js";
import { hasRow, onlyRow, type Query } from "../../platform/query.js";
import { type Condition, condition } from "./condition.js";
import { instant } from "./instant.js";

const noAdmin = "NOT EXISTS (SELECT 1 FROM _users WHERE role = 'admin')";
const isLive = "EXISTS (SELECT 1 FROM _setup WHERE hash = ? AND expires_at > ?)";

/** Whether there is an administrator, enabled or not. */
export function hasAdmin(): Query<boolean> {
  const select = statement("SELECT EXISTS (SELECT 1 FROM _users WHERE role = 'admin') AS found");
  return onlyRow(select, ([found]) => found === 1);
}

/**
 * Stores the hash of a setup link (for making the first administrator), in place of an earlier one. Returns whether it
 * did: not where there is an administrator already. `expiresAtMs` is in milliseconds since the epoch.
 */
export function insertSetup(hash: string, expiresAtMs: number): Query<boolean> {
  const insert = statement(
    `INSERT INTO _setup (only, hash, expires_at) SELECT 1, ?, ? WHERE ${noAdmin}
    ON CONFLICT (only) DO UPDATE SET hash = excluded.hash, expires_at = excluded.expires_at RETURNING only`,
    hash,
    BigInt(expiresAtMs),
  );
  return hasRow(insert);
}

/** Whether the setup link with that hash can be used at `now`: it is live, and there is no administrator yet. */
export function liveSetup(hash: string, now: number): Query<boolean> {
  return hasRow(statement(`SELECT 1 AS live WHERE ${isLive} AND ${noAdmin}`, hash, BigInt(now)));
}

/**
 * The first administrator, whom a setup link makes, as `insertFirstAdmin` stores them. `now` is in milliseconds since
 * the epoch.
 */
export interface FirstAdmin {
  readonly id: string;
  readonly email: string;
  readonly emailKey: string;
  readonly passwordHash: string;
  readonly now: number;
}

/**
 * Stores the first administrator, if the setup link with that hash is live, there is no administrator yet and the email
 * address is free; otherwise stores nothing. The address counts as verified, because whoever has the link operates the
 * server. The statements of `openConsoleSession` follow in the same batch, and sign the new administrator in.
 */
export function insertFirstAdmin(setupHash: string, admin: FirstAdmin): Statement {
  return statement(
    `INSERT INTO _users
      (id, email, email_key, password_hash, role, email_verified, registration_unconfirmed, created_at, created_by)
    SELECT ?, ?, ?, ?, 'admin', 1, 0, ?, 'setup' WHERE ${isLive} AND ${noAdmin}
    ON CONFLICT (email_key) DO NOTHING RETURNING id`,
    admin.id,
    admin.email,
    admin.emailKey,
    admin.passwordHash,
    instant(admin.now),
    setupHash,
    BigInt(admin.now),
  );
}

/**
 * A condition for `openConsoleSession` that matches the administrator whom `insertFirstAdmin` stored before it in the
 * same batch. It matches nobody if none was stored.
 */
export function firstAdmin({ id }: FirstAdmin): Condition {
  return condition("u.id = ?", id);
}

/** Deletes the setup link (which makes the first administrator) if there is an administrator; otherwise keeps it. */
export function endSetup(): Statement {
  return statement("DELETE FROM _setup WHERE EXISTS (SELECT 1 FROM _users WHERE role = 'admin')");
}
