import type { Statement } from "../../platform/database.js";
import type { LinkPurpose } from "../links.js";
import { type Condition, condition, statement } from "./statement.js";

export interface NewLink {
  readonly id: string;
  /** Of the token. */
  readonly hash: string;
  readonly purpose: LinkPurpose;
  /** The row of the outbox that announces the link: without it there is no link, and older ones live on. */
  readonly mailId: string;
  readonly emailKey: string;
  /**
   * Becomes the password when the link is used, where the account is an unconfirmed registration: any other has an owner,
   * and a stranger's password is not for them. Without one, a newer link carries what an older one carried.
   */
  readonly passwordHash: string | null;
  /** Becomes the role when the link is used. */
  readonly role: string | null;
  readonly redirectTo: string | null;
  readonly now: number;
  readonly expiresAtMs: number;
}

/** In one batch behind the statement that writes the mail. The newer link kills the older ones of its purpose. */
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
 * In one batch behind `insertLink` of an invitation: what a stranger may have registered before is not the invitee's, and no link
 * of it may become theirs.
 */
export function forgetRegistration(invitationId: string): readonly Statement[] {
  const invitee = "(SELECT user_id FROM _links WHERE id = ?)";
  return [
    statement(
      `DELETE FROM _links WHERE user_id = ${invitee} AND purpose = 'email_verification'`,
      invitationId,
    ),
    statement(
      `UPDATE _users SET registration_unconfirmed = 0, password_hash = NULL
      WHERE id = ${invitee} AND registration_unconfirmed = 1`,
      invitationId,
    ),
  ];
}

/**
 * In one batch behind `insertLink`, where too many mails were asked for to send another: the links that are out carry the
 * password of one registration, and whose it is nobody knows, so that they carry none.
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

const live = `used_at IS NULL AND expires_at > ?
  AND EXISTS (SELECT 1 FROM _users u WHERE u.id = _links.user_id AND u.disabled = 0)`;

/** `[1]` where the link could be used now: asked before a password is hashed for it. */
export function liveLink(hash: string, purpose: LinkPurpose, now: number): Statement {
  return statement(
    `SELECT 1 FROM _links WHERE hash = ? AND purpose = ? AND ${live}`,
    hash,
    purpose,
    BigInt(now),
  );
}

export interface LinkUse {
  readonly hash: string;
  readonly purpose: LinkPurpose;
  /** The password that comes with the token; null keeps the one that the link carries, or else the user's. */
  readonly passwordHash: string | null;
  /** Of this use alone: what the other statements of the batch know it by. */
  readonly usedBy: string;
  readonly now: number;
}

/** The user whose link this use consumed: no one, where it consumed none. */
const consumer = "(SELECT user_id FROM _links WHERE hash = ? AND used_by = ?)";

/** For `openSession`, in one batch behind `consumeLink`: the user whose link this use consumed. */
export function userOfLink({ hash, usedBy }: LinkUse): Condition {
  return condition(`u.id = ${consumer}`, hash, usedBy);
}

/** Whoever has the address has shown what the link of the invitation would have shown. */
export const invitedRole = `(SELECT i.role FROM _links i WHERE i.user_id = _users.id AND i.purpose = 'invitation'
  AND i.used_at IS NULL AND i.expires_at > ? AND _users.email_verified = 0)`;

/**
 * Consumes a link. The first statement returns `[redirect_to]`, no row where the link is not live. Whichever link was used, it ends what was opened before (somebody else may have had the password
 * or the account until now), and the other links die.
 */
export function consumeLink({ hash, purpose, passwordHash, usedBy, now }: LinkUse): readonly Statement[] {
  return [
    statement(
      `UPDATE _links SET used_at = ?, used_by = ?, password_hash = ifnull(?, password_hash)
      WHERE hash = ? AND purpose = ? AND ${live} RETURNING redirect_to`,
      BigInt(now),
      usedBy,
      passwordHash,
      hash,
      purpose,
      BigInt(now),
    ),
    statement(
      // The password of an unconfirmed registration may be anybody's, unless it is the one that the link carries.
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
    statement(`DELETE FROM _links WHERE user_id = ${consumer} AND hash <> ?`, hash, usedBy, hash),
  ];
}

/**
 * In one batch behind `changePassword`, where that changed something: links and exchange codes from before are worth
 * nothing now.
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
