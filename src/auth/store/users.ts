import type { Statement } from "../../platform/database.js";
import { type Condition, condition, instant, statement } from "./statement.js";

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
  readonly emailVerified: boolean;
  /** The account is nobody's until a link to its address has been used: whoever asks for it again may replace the password. */
  readonly registrationUnconfirmed: boolean;
  readonly createdAtMs: number;
}

/** Returns the id; no row where the address is taken. */
export function insertUser(user: NewUser): Statement {
  return statement(
    `INSERT INTO _users (id, email, email_key, password_hash, role, email_verified, registration_unconfirmed, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (email_key) DO NOTHING RETURNING id`,
    user.id,
    user.email,
    user.emailKey,
    user.passwordHash,
    user.role,
    BigInt(user.emailVerified),
    BigInt(user.registrationUnconfirmed),
    instant(user.createdAtMs),
  );
}

/** Invited, imported without a password or registered, and nobody has shown yet that the address is theirs. */
export const isPending = "(email_verified = 0 AND (password_hash IS NULL OR registration_unconfirmed = 1))";

export interface InvitedUser {
  readonly id: string;
  readonly email: string;
  readonly emailKey: string;
  readonly createdAtMs: number;
}

/** An identity without a password, which waits for its invitation to be accepted; nothing where the address is taken. */
export function insertInvitedUser(user: InvitedUser): Statement {
  return statement(
    `INSERT INTO _users (id, email, email_key, role, created_at) VALUES (?, ?, ?, 'user', ?)
    ON CONFLICT (email_key) DO NOTHING`,
    user.id,
    user.email,
    user.emailKey,
    instant(user.createdAtMs),
  );
}

/** `[email, role, whether the user is pending, disabled, whether the mail of that id was written]` */
export function invitee(emailKey: string, mailId: string): Statement {
  return statement(
    `SELECT email, role, ${isPending} AS pending, disabled, EXISTS (SELECT 1 FROM _outbox WHERE id = ?) AS mailed
    FROM _users WHERE email_key = ?`,
    mailId,
    emailKey,
  );
}

export interface ImportedUser {
  readonly id: string;
  readonly email: string;
  readonly emailKey: string;
  readonly role: "user" | "admin";
  readonly emailVerified: boolean;
  readonly disabled: boolean;
  readonly passwordHash: string | null;
}

/** All of them or, as an id or an address that is taken breaks a constraint, none. */
export function importUsers(users: readonly ImportedUser[], now: number): Statement {
  return statement(
    `INSERT INTO _users (id, email, email_key, password_hash, role, disabled, email_verified, created_at)
    SELECT value ->> 'id', value ->> 'email', value ->> 'emailKey', value ->> 'passwordHash', value ->> 'role',
      value ->> 'disabled', value ->> 'emailVerified', ? FROM json_each(?)`,
    instant(now),
    JSON.stringify(users),
  );
}

/** `[id, email_key]` of the users that have one of the ids or addresses. */
export function usersAmong(ids: readonly string[], emailKeys: readonly string[]): Statement {
  return statement(
    `SELECT id, email_key FROM _users
    WHERE id IN (SELECT value FROM json_each(?)) OR email_key IN (SELECT value FROM json_each(?))`,
    JSON.stringify(ids),
    JSON.stringify(emailKeys),
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

/** Somebody who could sign in, by a password or a provider. */
const otherAdmin = `EXISTS (SELECT 1 FROM _users o WHERE o.id <> _users.id AND o.role = 'admin' AND o.disabled = 0
  AND (o.password_hash IS NOT NULL OR EXISTS (SELECT 1 FROM _identities i WHERE i.user_id = o.id)))`;

const isDisabled = "EXISTS (SELECT 1 FROM _users WHERE id = user_id AND disabled = 1)";

/**
 * Changes a user; NULL leaves a field as it is. The last enabled admin stays one. The first statement returns the user
 * as in `userById`, no row where there is none or it is that admin; disablement ends every session of the user, and what could open one.
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
      AND ${isDisabled}`,
      BigInt(now),
      id,
    ),
    statement(`DELETE FROM _oauth_codes WHERE user_id = ? AND ${isDisabled}`, id),
    statement(`DELETE FROM _links WHERE user_id = ? AND ${isDisabled}`, id),
    // What an invitation would have granted is overruled.
    statement(
      `UPDATE _links SET role = NULL WHERE user_id = ? AND role <> ?
      AND EXISTS (SELECT 1 FROM _users u WHERE u.id = user_id AND u.role = ?)`,
      id,
      role,
      role,
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

/** For `openSession`: the user, while the password is still the one that was checked. */
export function userWithPassword(id: string, passwordHash: string): Condition {
  return condition("u.id = ? AND u.password_hash = ?", id, passwordHash);
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
