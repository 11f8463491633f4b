import { type Statement, statement } from "../../platform/database.js";
import { asIs, columns, followedBy, type Query, rowOf } from "../../platform/query.js";
import { type Condition, condition } from "./condition.js";

/** What a mailed link is for. The token of a link works for its own purpose only. */
export type LinkPurpose = "email_verification" | "invitation" | "password_reset" | "email_change";

/** A mailed link that is to be stored. Times are milliseconds since the epoch. */
export interface NewLink {
  readonly id: string;
  /** The hash of the link's token. */
  readonly hash: string;
  readonly purpose: LinkPurpose;
  /**
   * The id of the mail in the outbox that the link is sent with. If that mail was not written, no link is stored, and
   * older links stay valid.
   */
  readonly mailId: string;
  readonly emailKey: string;
  /**
   * The hash of the password that somebody has registered with. It becomes the user's password when the link is used,
   * but only if the account is an unconfirmed registration: any other account has an owner, and a stranger must not set
   * its password. Null: the new link takes over the hash that the link before it has.
   */
  readonly passwordHash: string | null;
  /** The role that the user gets when the link is used; null where the link changes no role. */
  readonly role: string | null;
  readonly redirectTo: string | null;
  readonly now: number;
  readonly expiresAtMs: number;
}

/**
 * Makes the statements that store a mailed link. They go into one batch behind the statement that writes the link's
 * mail, and do nothing where no mail was written. Older links of the same user and purpose are deleted.
 */
export function insertLink(link: NewLink): readonly Statement[] {
  return [
    statement(
      `INSERT INTO _links (id, hash, purpose, user_id, password_hash, role, redirect_to, created_at, expires_at)
      SELECT ?, ?, ?, u.id, iif(u.registration_unconfirmed, ifnull(?, (SELECT o.password_hash FROM _links o
        WHERE o.user_id = u.id AND o.purpose = ? AND o.used_at IS NULL ORDER BY o.created_at DESC, o.rowid DESC LIMIT 1)), NULL),
        ?, ?, ?, ?
      FROM _outbox m JOIN _users u ON u.email_key = ? WHERE m.id = ? AND m.link_id = ?`,
      link.id,
      link.hash,
      link.purpose,
      link.passwordHash,
      link.purpose,
      link.role,
      link.redirectTo,
      BigInt(link.now),
      BigInt(link.expiresAtMs),
      link.emailKey,
      link.mailId,
      link.id,
    ),
    statement(
      `DELETE FROM _links WHERE user_id = (SELECT user_id FROM _links WHERE id = ?) AND purpose = ? AND id <> ?`,
      link.id,
      link.purpose,
      link.id,
    ),
  ];
}

/**
 * Undoes the unconfirmed registration of somebody who is now invited, because another person may have registered with
 * that address: the account's password and its verification links are deleted. Goes into one batch behind `insertLink`
 * of the invitation, and does nothing if that stored no link.
 */
export function forgetRegistration(invitationId: string): readonly Statement[] {
  const invitee = "(SELECT user_id FROM _links WHERE id = ?)";
  return [
    statement(`DELETE FROM _links WHERE user_id = ${invitee} AND purpose = 'email_verification'`, invitationId),
    statement(
      `UPDATE _users SET registration_unconfirmed = 0, password_hash = NULL
      WHERE id = ${invitee} AND registration_unconfirmed = 1`,
      invitationId,
    ),
  ];
}

/**
 * Removes the passwords that the unused verification links of an unconfirmed registration hold. It does so where
 * somebody has registered the address once more, and no new link was stored because the limit of mails is reached: it
 * is then unknown whose password is that of the address's owner. Goes into one batch behind `insertLink`.
 */
export function disputePasswords(linkId: string, emailKey: string): Statement {
  return statement(
    `UPDATE _links SET password_hash = NULL WHERE purpose = 'email_verification' AND used_at IS NULL
      AND user_id = (SELECT id FROM _users WHERE email_key = ? AND registration_unconfirmed = 1)
      AND NOT EXISTS (SELECT 1 FROM _links WHERE id = ?)`,
    emailKey,
    linkId,
  );
}

/** SQL, a condition on a row of `_links`: the link can still be used. It has one parameter, the current time. */
export const liveLinkCondition = `used_at IS NULL AND expires_at > ?
  AND EXISTS (SELECT 1 FROM _users u WHERE u.id = _links.user_id AND u.disabled = 0)`;

const openLink = columns({ id: asIs<string>, email: asIs<string> });

/**
 * The link with this hash and purpose, and the address that its user has once it is used; null where the link cannot be
 * used now. It is asked for before a new password is hashed, which is costly.
 */
export function liveLink(hash: string, purpose: LinkPurpose, now: number) {
  const select = statement(
    `SELECT id, ifnull(email, (SELECT email FROM _users u WHERE u.id = _links.user_id)) AS email
    FROM _links WHERE hash = ? AND purpose = ? AND ${liveLinkCondition}`,
    hash,
    purpose,
    BigInt(now),
  );
  return rowOf(select, openLink);
}

/** One use of a mailed link, as a request makes it. */
export interface LinkUse {
  readonly hash: string;
  readonly purpose: LinkPurpose;
  /**
   * The hash of the password that the request sends with the token. Null where it sends none: then the password that
   * the link carries is set. If there is none either, the user's stays, except that of an unconfirmed registration,
   * which is removed.
   */
  readonly passwordHash: string | null;
  /**
   * The client's address, hashed as in the table `_known_addresses`, which holds the addresses that users have signed
   * in from.
   */
  readonly addressKey: string;
  /**
   * A random id of this use of the link. The link's row gets it, so that the other statements of the batch find the
   * link that this request has used up.
   */
  readonly usedBy: string;
  readonly now: number;
}

/** SQL: the id of the user whose link the request has used; NULL where it has used none. */
const consumer = "(SELECT user_id FROM _links WHERE hash = ? AND used_by = ?)";

/**
 * The condition by which `openSession` finds the user whose link was just used. It has to be in one batch behind the
 * statements of `consumeLink`.
 */
export function userOfLink({ hash, usedBy }: LinkUse): Condition {
  return condition(`u.id = ${consumer}`, hash, usedBy);
}

/**
 * SQL on the row of `_users` that is changed: the role that a live invitation gives to a user who has not confirmed the
 * address; NULL where it gives none. It is granted however the user proves to own the address, because the link of the
 * invitation would prove the same. It has one parameter, the current time.
 */
export const invitedRole = `(SELECT i.role FROM _links i WHERE i.user_id = _users.id AND i.purpose = 'invitation'
  AND i.used_at IS NULL AND i.expires_at > ? AND _users.email_verified = 0)`;

/** Reads what the statements return that use up mailed links. */
export const usedLink = columns({ redirectTo: asIs<string | null>, userId: asIs<string> });
/** A mailed link that was used: where its user is sent, and who that is. */
export type UsedLink = ReturnType<typeof usedLink>;

/**
 * Uses up a mailed link, confirms its user's address, and sets the password and the role that come with it, if any.
 * Where the link is not live, it returns null and changes nothing. Somebody else may have had the account until now, so
 * all sessions of the user end, and the user's codes of social sign-ins, known addresses and other links are deleted.
 * After that, only the address of this client is a known one.
 */
export function consumeLink(use: LinkUse): Query<UsedLink | null> {
  const { hash, purpose, passwordHash, addressKey, usedBy, now } = use;
  const consume = statement(
    `UPDATE _links SET used_at = ?, used_by = ?, password_hash = ifnull(?, password_hash)
      WHERE hash = ? AND purpose = ? AND ${liveLinkCondition} RETURNING redirect_to, user_id`,
    BigInt(now),
    usedBy,
    passwordHash,
    hash,
    purpose,
    BigInt(now),
  );
  return followedBy(
    rowOf(consume, usedLink),
    statement(
      // If the link carries a password, it becomes the user's. Otherwise the user's password stays, unless the account
      // is an unconfirmed registration: then it is removed, because a stranger may have set it.
      `UPDATE _users SET email_verified = 1, registration_unconfirmed = 0,
        password_hash = ifnull(l.password_hash, iif(registration_unconfirmed, NULL, _users.password_hash)),
        role = ifnull(ifnull(l.role, ${invitedRole}), _users.role)
      FROM _links l WHERE l.hash = ? AND l.used_by = ? AND _users.id = l.user_id`,
      BigInt(now),
      hash,
      usedBy,
    ),
    statement(
      `UPDATE _sessions SET revoked_at = ? WHERE revoked_at IS NULL AND user_id = ${consumer}`,
      BigInt(now),
      hash,
      usedBy,
    ),
    statement(`DELETE FROM _oauth_codes WHERE user_id = ${consumer}`, hash, usedBy),
    statement(`DELETE FROM _known_addresses WHERE user_id = ${consumer}`, hash, usedBy),
    statement(
      `INSERT INTO _known_addresses (user_id, address) SELECT user_id, ? FROM _links WHERE hash = ? AND used_by = ?`,
      addressKey,
      hash,
      usedBy,
    ),
    statement(`DELETE FROM _links WHERE user_id = ${consumer} AND hash <> ?`, hash, usedBy, hash),
  );
}

/**
 * Deletes the mailed links of a user whose password was changed and the codes of the user's social sign-ins, because
 * each of them could open a session. Goes into one batch behind `changePassword`, and does nothing if that changed no
 * password.
 */
export function deleteOpeningsIfChanged(userId: string, passwordHash: string): readonly Statement[] {
  return ["_links", "_oauth_codes"].map((table) =>
    statement(
      `DELETE FROM ${table} WHERE user_id = ? AND EXISTS (SELECT 1 FROM _users WHERE id = user_id AND password_hash = ?)`,
      userId,
      passwordHash,
    ),
  );
}
