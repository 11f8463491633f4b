import { type Statement, statement } from "../../platform/database.js";
import { followedBy, type Query, rowOf } from "../../platform/query.js";
import type { Condition } from "./condition.js";
import { liveLinkCondition, type UsedLink, usedLink } from "./links.js";

/** A new mailed link that changes its user's email address, to be stored. Times are milliseconds since the epoch. */
export interface NewEmailChange {
  readonly id: string;
  /** The hash of the link's token. */
  readonly hash: string;
  /** The id of the mail in the outbox that the link is sent with. If that mail was not written, no link is stored. */
  readonly mailId: string;
  readonly userId: string;
  /** The session that asks for the change of address. It is the only one that does not end when the link is used. */
  readonly sessionId: string;
  /** The address that the link moves the user to. */
  readonly email: string;
  readonly emailKey: string;
  readonly now: number;
  readonly expiresAtMs: number;
}

/**
 * Makes the statements that store a link which changes its user's email address. They go into one batch behind the
 * statement that writes the link's mail, and store no link where no mail was written. In both cases the user's older
 * links of this kind are deleted. Where `owner` matches nobody, nothing is stored or deleted.
 */
export function insertEmailChange(link: NewEmailChange, owner: Condition): readonly Statement[] {
  return [
    statement(
      `INSERT INTO _links (id, hash, purpose, user_id, email, email_key, session_id, created_at, expires_at)
      SELECT ?, ?, 'email_change', ?, ?, ?, ?, ?, ? FROM _outbox m WHERE m.id = ? AND m.link_id = ?`,
      link.id,
      link.hash,
      link.userId,
      link.email,
      link.emailKey,
      link.sessionId,
      BigInt(link.now),
      BigInt(link.expiresAtMs),
      link.mailId,
      link.id,
    ),
    statement(
      `DELETE FROM _links WHERE purpose = 'email_change' AND id <> ?
      AND user_id = (SELECT u.id FROM _users u WHERE ${owner.sql})`,
      link.id,
      ...owner.params,
    ),
  ];
}

/** The use of a link that changes a user's address. */
export interface EmailChangeUse {
  readonly hash: string;
  /**
   * A random id of this use of the link. The link's row gets it, so that the other statements of the batch find the
   * link that this request has used up.
   */
  readonly usedBy: string;
  /** The id of the mail that tells the user's old address of the change. */
  readonly mailId: string;
  readonly now: number;
}

/**
 * Uses a link which changes an email address: mails the old address, moves the user to the new address, and marks that
 * as verified. Where the link is not live or somebody else has taken the address meanwhile, it returns null and changes
 * nothing. All sessions end but the one that has asked for the change, and codes of social sign-ins are deleted. All
 * other links are deleted, because they were mailed to the old address. Identities at sign-in providers stay.
 */
export function changeEmail({ hash, usedBy, mailId, now }: EmailChangeUse): Query<UsedLink | null> {
  const used = "FROM _links l WHERE l.hash = ? AND l.used_by = ?";
  const changed = `(SELECT l.user_id ${used})`;
  const consume = statement(
    `UPDATE _links SET used_at = ?, used_by = ? WHERE hash = ? AND purpose = 'email_change' AND ${liveLinkCondition}
        AND NOT EXISTS (SELECT 1 FROM _users t WHERE t.email_key = _links.email_key AND t.id <> _links.user_id)
      RETURNING redirect_to, user_id`,
    BigInt(now),
    usedBy,
    hash,
    BigInt(now),
  );
  return followedBy(
    rowOf(consume, usedLink),
    statement(
      `INSERT INTO _outbox (id, kind, recipient, created_at, attempts, next_attempt_at)
      SELECT ?, 'email_changed', u.email, ?, 0, ? FROM _users u WHERE u.id = ${changed}`,
      mailId,
      BigInt(now),
      BigInt(now),
      hash,
      usedBy,
    ),
    statement(
      `UPDATE _users SET email = l.email, email_key = l.email_key, email_verified = 1, registration_unconfirmed = 0
      ${used} AND _users.id = l.user_id`,
      hash,
      usedBy,
    ),
    statement(
      `UPDATE _sessions SET revoked_at = ? WHERE revoked_at IS NULL AND user_id = ${changed}
      AND id IS NOT (SELECT l.session_id ${used})`,
      BigInt(now),
      hash,
      usedBy,
      hash,
      usedBy,
    ),
    statement(`DELETE FROM _oauth_codes WHERE user_id = ${changed}`, hash, usedBy),
    statement(`DELETE FROM _links WHERE user_id = ${changed} AND hash <> ?`, hash, usedBy, hash),
  );
}

/**
 * Deletes the link by which this session has asked for another email address of its user. With `userId` it does so only
 * if the link is that user's; null allows whichever user the session belongs to. To be run where the session is ended
 * on purpose.
 */
export function deleteEmailChangeOfSession(sessionId: string, userId: string | null): Statement {
  return statement(
    `DELETE FROM _links WHERE user_id = ifnull(?, (SELECT user_id FROM _sessions WHERE id = ?))
    AND purpose = 'email_change' AND session_id = ?`,
    userId,
    sessionId,
    sessionId,
  );
}

/** Deletes the links by which sessions of this user have asked for another email address. */
export function deleteEmailChanges(userId: string): Statement {
  return statement("DELETE FROM _links WHERE user_id = ? AND purpose = 'email_change'", userId);
}

/** Deletes all links by which any session of any user has asked for another email address. */
export function deleteEveryEmailChange(): Statement {
  return statement("DELETE FROM _links WHERE purpose = 'email_change'");
}
