import { type Statement, statement } from "../../platform/database.js";
import type { Condition } from "./condition.js";
import { liveLinkCondition } from "./links.js";

/** A link that is to be stored, which moves a user to another address. Times are milliseconds since the epoch. */
export interface NewEmailChange {
  readonly id: string;
  /** The hash of the link's token. */
  readonly hash: string;
  /** The id of the mail in the outbox that announces the link. Where that mail was not written, no link is stored. */
  readonly mailId: string;
  readonly userId: string;
  /** The session that asks for it. It goes on when the link is used. */
  readonly sessionId: string;
  /** The new address. */
  readonly email: string;
  readonly emailKey: string;
  readonly now: number;
  readonly expiresAtMs: number;
}

/**
 * Stores a link that changes an address. Goes into one batch behind the statement that writes its mail. Older ones of
 * the user are deleted, also where no link is stored, but not where `owner` matches nobody.
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

/** A request that uses a link which changes an address. */
export interface EmailChangeUse {
  readonly hash: string;
  /** A random id of this use, by which the other statements of the batch find the link that it consumed. */
  readonly usedBy: string;
  /** The id of the mail that tells the address which the user had. */
  readonly mailId: string;
  readonly now: number;
}

/**
 * Uses a link that changes an address: tells the old address, moves the user to the new one and marks that as verified.
 * The first statement returns `[redirect_to, user_id]`, or no row where the link is not live or somebody else has the
 * address meanwhile; then nothing is changed. Sessions end but the one that asked for it, and so do exchange codes and
 * all other links, which were mailed to the old address. Identities at providers stay.
 */
export function changeEmail({ hash, usedBy, mailId, now }: EmailChangeUse): readonly Statement[] {
  const used = "FROM _links l WHERE l.hash = ? AND l.used_by = ?";
  const changed = `(SELECT l.user_id ${used})`;
  return [
    statement(
      `UPDATE _links SET used_at = ?, used_by = ? WHERE hash = ? AND purpose = 'email_change' AND ${liveLinkCondition}
        AND NOT EXISTS (SELECT 1 FROM _users t WHERE t.email_key = _links.email_key AND t.id <> _links.user_id)
      RETURNING redirect_to, user_id`,
      BigInt(now),
      usedBy,
      hash,
      BigInt(now),
    ),
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
  ];
}

/**
 * Deletes the unused link by which a session has asked for another address, where the session is ended on purpose. Of this
 * user alone, or with null of the session's.
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

/** The same for all sessions of a user. */
export function deleteEmailChanges(userId: string): Statement {
  return statement("DELETE FROM _links WHERE user_id = ? AND purpose = 'email_change'", userId);
}

/** The same for all sessions of everybody. */
export function deleteEveryEmailChange(): Statement {
  return statement("DELETE FROM _links WHERE purpose = 'email_change'");
}
