import type { Statement } from "../../platform/database.js";
import { instant, statement } from "./statement.js";

/** `[id, email, role, disabled, email_verified, created_at]` */
export function userById(id: string): Statement {
  return statement(
    "SELECT id, email, role, disabled, email_verified, created_at FROM _users WHERE id = ?",
    id,
  );
}

/** `[id, email, role, disabled, email_verified, password_hash]` */
export function userByEmail(emailKey: string): Statement {
  return statement(
    "SELECT id, email, role, disabled, email_verified, password_hash FROM _users WHERE email_key = ?",
    emailKey,
  );
}

export interface NewUser {
  readonly id: string;
  readonly email: string;
  readonly emailKey: string;
  readonly passwordHash: string;
  readonly role: "user" | "admin";
  readonly createdAtMs: number;
}

/** Returns the id; no row where the address is taken. */
export function insertUser(user: NewUser): Statement {
  return statement(
    `INSERT INTO _users (id, email, email_key, password_hash, role, created_at) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (email_key) DO NOTHING RETURNING id`,
    user.id,
    user.email,
    user.emailKey,
    user.passwordHash,
    user.role,
    instant(user.createdAtMs),
  );
}

/** `[id, email, role, disabled, email_verified, created_at]` */
export function listUsers(): Statement {
  return statement(
    "SELECT id, email, role, disabled, email_verified, created_at FROM _users ORDER BY created_at, id",
  );
}

export interface UserChange {
  readonly id: string;
  readonly disabled: boolean | null;
  readonly role: "user" | "admin" | null;
  readonly now: number;
}

const otherAdmin =
  "EXISTS (SELECT 1 FROM _users o WHERE o.id <> _users.id AND o.role = 'admin' AND o.disabled = 0)";

/**
 * Changes a user; NULL leaves a field as it is. The last enabled admin stays one. The first statement returns the user
 * as in `userById`, no row where there is none or it is that admin; disablement ends every session of the user.
 */
export function changeUser({ id, disabled, role, now }: UserChange): readonly Statement[] {
  const flag = disabled === null ? null : BigInt(disabled);
  return [
    statement(
      `UPDATE _users SET disabled = ifnull(?, disabled), role = ifnull(?, role)
      WHERE id = ? AND ((ifnull(?, disabled) = 0 AND ifnull(?, role) = 'admin') OR role <> 'admin' OR disabled = 1 OR ${otherAdmin})
      RETURNING id, email, role, disabled, email_verified, created_at`,
      flag,
      role,
      id,
      flag,
      role,
    ),
    statement(
      `UPDATE _sessions SET revoked_at = ? WHERE user_id = ? AND revoked_at IS NULL
      AND EXISTS (SELECT 1 FROM _users WHERE id = user_id AND disabled = 1)`,
      BigInt(now),
      id,
    ),
  ];
}

/** Returns the id; no row where there is none, or it is the last enabled admin. */
export function deleteUser(id: string): Statement {
  return statement(
    `DELETE FROM _users WHERE id = ? AND (role <> 'admin' OR disabled = 1 OR ${otherAdmin}) RETURNING id`,
    id,
  );
}

/** Replaces a password while it is still the one that was checked. Returns the id. */
export function changePassword(id: string, from: string, to: string): Statement {
  return statement(
    "UPDATE _users SET password_hash = ? WHERE id = ? AND password_hash = ? AND disabled = 0 RETURNING id",
    to,
    id,
    from,
  );
}
