import { type Statement, statement } from "../../platform/database.js";
import { asFlag, asIs, columns, followedBy, hasRow, onlyRow, type Query, rowOf, rowsOf } from "../../platform/query.js";
import { type Condition, condition } from "./condition.js";
import { instant } from "./instant.js";

const selectAccount = "SELECT id, email, role, disabled, email_verified, password_hash FROM _users";
const userColumns = "id, email, role, disabled, email_verified, created_at";
const sharedReaders = {
  id: asIs<string>,
  email: asIs<string>,
  role: asIs<NewUser["role"]>,
  disabled: asFlag,
  emailVerified: asFlag,
};
const storedAccount = columns({ ...sharedReaders, passwordHash: asIs<string | null> });
const storedUser = columns({ ...sharedReaders, createdAt: asIs<string> });
const createdUser = columns({ ...sharedReaders, createdAt: asIs<string>, createdBy: asIs<string | null> });

/** A user, as a sign-in reads them. `passwordHash` is null for a user without a password. */
export type StoredAccount = ReturnType<typeof storedAccount>;
/** A user, as answers show them. `createdAt` is in ISO 8601. */
export type StoredUser = ReturnType<typeof storedUser>;

/** The user with an id. */
export function userById(id: string): Query<StoredUser | null> {
  return rowOf(statement(`SELECT ${userColumns} FROM _users WHERE id = ?`, id), storedUser);
}

/** The user with an email address, given by its `emailKey` (the form by which addresses are compared). */
export function userByEmail(emailKey: string): Query<StoredAccount | null> {
  return rowOf(statement(`${selectAccount} WHERE email_key = ?`, emailKey), storedAccount);
}

/** The user with an id, as a sign-in reads them. */
export function accountById(id: string): Query<StoredAccount | null> {
  return rowOf(statement(`${selectAccount} WHERE id = ?`, id), storedAccount);
}

/** A user that `insertUser` is to store. */
export interface NewUser {
  readonly id: string;
  readonly email: string;
  readonly emailKey: string;
  readonly passwordHash: string;
  readonly role: "user" | "admin";
  readonly emailVerified: boolean;
  /**
   * Whether the address still has to be confirmed before the account has an owner. Until a link mailed to the address
   * is used, registering it again may replace the password.
   */
  readonly registrationUnconfirmed: boolean;
  readonly createdAtMs: number;
  /**
   * Who creates the user: the text that `principalOf` makes of the caller, such as `user:<id>`; or `cli`; or null for
   * people who register themselves.
   */
  readonly createdBy: string | null;
}

/** Stores a user. Returns whether it did: not where the address is taken. */
export function insertUser(user: NewUser): Query<boolean> {
  const insert = statement(
    `INSERT INTO _users
      (id, email, email_key, password_hash, role, email_verified, registration_unconfirmed, created_at, created_by)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (email_key) DO NOTHING RETURNING id`,
    user.id,
    user.email,
    user.emailKey,
    user.passwordHash,
    user.role,
    BigInt(user.emailVerified),
    BigInt(user.registrationUnconfirmed),
    instant(user.createdAtMs),
    user.createdBy,
  );
  return hasRow(insert);
}

/**
 * SQL: whether a user was invited, imported without a password or has registered, and has not shown yet that the
 * address is theirs.
 */
export const isPending = "(email_verified = 0 AND (password_hash IS NULL OR registration_unconfirmed = 1))";

/** An invited user, who is to be stored without a password. */
export interface InvitedUser {
  readonly id: string;
  readonly email: string;
  readonly emailKey: string;
  readonly createdAtMs: number;
}

/**
 * Stores a user without a password, who cannot sign in before accepting the invitation. Does nothing where the
 * address is taken.
 */
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

/**
 * Stores in `created_by` who has invited a user, unless the user is an administrator. It has to follow `insertLink` of
 * the invitation in the same batch, and does nothing if that stored no link.
 */
export function setInviter(invitationId: string, principal: string): Statement {
  return statement(
    `UPDATE _users SET created_by = ?
    WHERE id = (SELECT user_id FROM _links WHERE id = ?) AND role <> 'admin'`,
    principal,
    invitationId,
  );
}

const invitedUser = columns({
  email: asIs<string>,
  role: asIs<NewUser["role"]>,
  /** Whether the user has yet to accept the invitation. */
  isPending: asFlag,
  disabled: asFlag,
  /** Whether the outbox holds the mail of the invitation. */
  isMailed: asFlag,
});

/** The user whom an invitation has stored or found, by the email address. `mailId` is the id of the invitation's mail. */
export function invitee(emailKey: string, mailId: string) {
  const select = statement(
    `SELECT email, role, ${isPending} AS pending, disabled, EXISTS (SELECT 1 FROM _outbox WHERE id = ?) AS mailed
    FROM _users WHERE email_key = ?`,
    mailId,
    emailKey,
  );
  return onlyRow(select, invitedUser);
}

/** A user from elsewhere that is to be stored: from another system, or from a file of the project's owner. */
export interface ImportedUser {
  readonly id: string;
  readonly email: string;
  readonly emailKey: string;
  readonly role: "user" | "admin";
  readonly emailVerified: boolean;
  readonly disabled: boolean;
  readonly passwordHash: string | null;
}

/**
 * Stores all imported users or none: an id or an address that is taken throws ConstraintError. `createdBy` is the
 * principal who imports them.
 */
export function importUsers(users: readonly ImportedUser[], now: number, createdBy: string): Statement {
  return statement(
    `INSERT INTO _users (id, email, email_key, password_hash, role, disabled, email_verified, created_at, created_by)
    SELECT value ->> 'id', value ->> 'email', value ->> 'emailKey', value ->> 'passwordHash', value ->> 'role',
      value ->> 'disabled', value ->> 'emailVerified', ?, ? FROM json_each(?)`,
    instant(now),
    createdBy,
    JSON.stringify(users),
  );
}

const userKeys = columns({ id: asIs<string>, emailKey: asIs<string> });

/** The ids and addresses of the users that have one of the given ids or one of the given addresses. */
export function usersAmong(ids: readonly string[], emailKeys: readonly string[]) {
  const select = statement(
    `SELECT id, email_key FROM _users
    WHERE id IN (SELECT value FROM json_each(?)) OR email_key IN (SELECT value FROM json_each(?))`,
    JSON.stringify(ids),
    JSON.stringify(emailKeys),
  );
  return rowsOf(select, userKeys);
}

/** Every user, oldest first, with who has created them (`NewUser.createdBy`). */
export function listUsers() {
  const select = statement(
    `SELECT id, email, role, disabled, email_verified, created_at, created_by
    FROM _users ORDER BY created_at, id`,
  );
  return rowsOf(select, createdUser);
}

/** A change of a user by an operator. A null `disabled` or `role` stays as it is. */
export interface UserChange {
  readonly id: string;
  readonly disabled: boolean | null;
  readonly role: "user" | "admin" | null;
  /** Who makes the change: the text that `principalOf` makes of the caller, such as `user:<id>`, or `cli`. */
  readonly by: string;
  readonly now: number;
}

/**
 * SQL: whether there is another administrator besides the user, who is enabled and can sign in by a password or a
 * provider.
 */
const otherAdmin = `EXISTS (SELECT 1 FROM _users o WHERE o.id <> _users.id AND o.role = 'admin' AND o.disabled = 0
  AND (o.password_hash IS NOT NULL OR EXISTS (SELECT 1 FROM _identities i WHERE i.user_id = o.id)))`;

const isDisabled = "EXISTS (SELECT 1 FROM _users WHERE id = user_id AND disabled = 1)";
const isNoAdmin = "EXISTS (SELECT 1 FROM _users WHERE id = user_id AND role <> 'admin')";

/**
 * Changes a user. Returns the changed user; null where there is no such user or the change would leave no enabled
 * administrator who can sign in. For a user who becomes an administrator, `created_by` is set to who made them one.
 * Disabling ends every session of the user and deletes what could open one; if the user is no administrator any more,
 * their sessions of the console end.
 */
export function changeUser({ id, disabled, role, by, now }: UserChange): Query<StoredUser | null> {
  const to = disabled === null ? null : BigInt(disabled);
  const change = statement(
    `UPDATE _users SET disabled = ifnull(?, disabled), role = ifnull(?, role),
        created_by = iif(role <> 'admin' AND ifnull(?, role) = 'admin', ?, created_by)
      WHERE id = ? AND ((ifnull(?, disabled) = 0 AND ifnull(?, role) = 'admin') OR role <> 'admin' OR disabled = 1 OR ${otherAdmin})
      RETURNING ${userColumns}`,
    to,
    role,
    role,
    by,
    id,
    to,
    role,
  );
  return followedBy(
    rowOf(change, storedUser),
    statement(
      `UPDATE _sessions SET revoked_at = ? WHERE user_id = ? AND revoked_at IS NULL
      AND (${isDisabled} OR (kind = 'console' AND ${isNoAdmin}))`,
      BigInt(now),
      id,
    ),
    statement(`DELETE FROM _oauth_codes WHERE user_id = ? AND ${isDisabled}`, id),
    statement(`DELETE FROM _links WHERE user_id = ? AND ${isDisabled}`, id),
    // A role that an operator sets counts more than a pending invitation: the invitation then grants no role of its
    // own.
    statement(
      `UPDATE _links SET role = NULL WHERE user_id = ? AND role <> ?
      AND EXISTS (SELECT 1 FROM _users u WHERE u.id = user_id AND u.role = ?)`,
      id,
      role,
      role,
    ),
  );
}

/**
 * Deletes a user; if `owner`, a condition on `_users AS u`, is given, only where it matches the user. Returns whether it
 * did: not where there is no such user or it is the last enabled administrator.
 */
export function deleteUser(id: string, owner: Condition | null): Query<boolean> {
  const { sql, params } = owner ?? condition("true");
  const remove = statement(
    `DELETE FROM _users WHERE id = (SELECT u.id FROM _users u WHERE u.id = ? AND ${sql})
    AND (role <> 'admin' OR disabled = 1 OR ${otherAdmin}) RETURNING id`,
    id,
    ...params,
  );
  return hasRow(remove);
}

/** Whether `owner`, a condition on `_users AS u`, matches a user. */
export function matchesUser(owner: Condition): Query<boolean> {
  return hasRow(statement(`SELECT u.id FROM _users u WHERE ${owner.sql}`, ...owner.params));
}

/**
 * A condition for `openSession` that matches a user as long as the stored password hash is still the one that was
 * checked: no session is opened if the password was changed meanwhile.
 */
export function userWithPassword(id: string, passwordHash: string): Condition {
  return condition("u.id = ? AND u.password_hash = ?", id, passwordHash);
}

/**
 * Replaces the hash of a user's password, as long as the stored one is still `from`, which was checked. Returns whether
 * it did: not where the hash is another one, or the user is disabled.
 */
export function changePassword(id: string, from: string, to: string): Query<boolean> {
  const change = statement(
    "UPDATE _users SET password_hash = ? WHERE id = ? AND password_hash = ? AND disabled = 0 RETURNING id",
    to,
    id,
    from,
  );
  return hasRow(change);
}
