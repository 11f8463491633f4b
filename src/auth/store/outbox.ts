import { type Statement, statement } from "../../platform/database.js";
import type { LinkPurpose } from "../links.js";
import type { Condition } from "./condition.js";
import { isPending } from "./users.js";

/**
 * The kind of a mail, which decides what it says. `registration_attempt` tells the owner of an address that somebody
 * tried to register it, `email_change_attempt` that somebody with another account tried to move there. An account's
 * own address is told by `email_change_notice` that another one was asked for, and by `email_changed` that the account
 * has moved.
 */
export type MailKind =
  | LinkPurpose
  | "registration_attempt"
  | "email_change_attempt"
  | "email_change_notice"
  | "email_changed";

/** A mail that is to be written to the outbox. */
export interface NewMail {
  readonly id: string;
  /** The id of the link that the mail announces. It is left out for users who get a mail without a link. */
  readonly linkId: string;
  readonly emailKey: string;
  readonly now: number;
}

/**
 * Which users are mailed, and what, as SQL over `_users`: `kind` is an expression, `withLink` and `recipients` are
 * conditions.
 */
interface MailRule {
  readonly kind: string;
  readonly withLink: string;
  readonly recipients: string;
}

/**
 * Writes a mail to the outbox. Goes into one batch directly behind the statement that counts the mail, and does nothing
 * where that counted none because the limit is reached. For an address without an account the same statement runs and
 * writes nothing.
 */
function insertMail(
  { id, linkId, emailKey, now }: NewMail,
  rule: MailRule,
  actionUrl: string | null,
): Statement {
  return statement(
    `INSERT INTO _outbox (id, kind, recipient, link_id, action_url, created_at, attempts, next_attempt_at)
    SELECT ?, ${rule.kind}, email, iif(${rule.withLink}, ?, NULL), iif(${rule.withLink}, NULL, ?), ?, 0, ?
    FROM _users WHERE email_key = ? AND disabled = 0 AND ${rule.recipients} AND changes() = 1`,
    id,
    linkId,
    actionUrl,
    BigInt(now),
    BigInt(now),
    emailKey,
  );
}

const unconfirmedRegistration = "registration_unconfirmed = 1";

/**
 * Mails a link to confirm the address to an unconfirmed registration. Any other account has an owner, who is told
 * that somebody tried to register the address.
 */
export function insertRegistrationMail(mail: NewMail): Statement {
  const kind = `iif(${unconfirmedRegistration}, 'email_verification', 'registration_attempt')`;
  return insertMail(mail, { kind, withLink: unconfirmedRegistration, recipients: "true" }, null);
}

/**
 * Mails a new link to confirm the address. Where addresses need not be confirmed nobody is mailed, because the link
 * would vouch for an account that anybody may have created.
 */
export function insertVerificationMail(mail: NewMail, { required }: { required: boolean }): Statement {
  const recipients = required ? "email_verified = 0" : "false";
  return insertMail(mail, { kind: "'email_verification'", withLink: "true", recipients }, null);
}

/** Mails a link to reset the password. */
export function insertPasswordResetMail(mail: NewMail): Statement {
  return insertMail(mail, { kind: "'password_reset'", withLink: "true", recipients: "true" }, null);
}

/**
 * Mails an invitation: with a link to accept for a user who has not accepted yet, with `actionUrl` alone for any
 * other.
 */
export function insertInvitationMail(mail: NewMail, actionUrl: string | null): Statement {
  return insertMail(mail, { kind: "'invitation'", withLink: isPending, recipients: "true" }, actionUrl);
}

/** A mail with a link that moves a user to the address which it is sent to. */
export interface EmailChangeMail extends NewMail {
  /** The new address as it was given. */
  readonly email: string;
}

/**
 * Mails a link to a new address. Where somebody else has that address, the mail goes to them, without a link. Nobody is
 * mailed where `owner`, a condition on `_users AS u`, matches nobody. Goes directly behind the statement that counts the
 * mail.
 */
export function insertEmailChangeMail(
  { id, linkId, email, emailKey, now }: EmailChangeMail,
  owner: Condition,
): Statement {
  return statement(
    `INSERT INTO _outbox (id, kind, recipient, link_id, created_at, attempts, next_attempt_at)
    SELECT ?, iif(t.id IS NULL, 'email_change', 'email_change_attempt'), ifnull(t.email, ?), iif(t.id IS NULL, ?, NULL), ?, 0, ?
    FROM _users u LEFT JOIN _users t ON t.email_key = ? AND t.id <> u.id
    WHERE ${owner.sql} AND ifnull(t.disabled, 0) = 0 AND changes() = 1`,
    id,
    email,
    linkId,
    BigInt(now),
    BigInt(now),
    emailKey,
    ...owner.params,
  );
}

/** Tells the present address of the user whom `owner` matches that another one was asked for. Else as the mail above. */
export function insertEmailChangeNotice(id: string, owner: Condition, now: number): Statement {
  return statement(
    `INSERT INTO _outbox (id, kind, recipient, created_at, attempts, next_attempt_at)
    SELECT ?, 'email_change_notice', u.email, ?, 0, ? FROM _users u WHERE ${owner.sql} AND changes() = 1`,
    id,
    BigInt(now),
    BigInt(now),
    ...owner.params,
  );
}

/** Returns `[1]` where a mail is due. Asked before `claimMails`, because that takes the write lock. */
export function anyMailDue(now: number): Statement {
  return statement(
    "SELECT 1 FROM _outbox WHERE next_attempt_at <= ? AND leased_until <= ? LIMIT 1",
    BigInt(now),
    BigInt(now),
  );
}

/** Which mails a process claims, and when other processes may claim them. Times are milliseconds. */
export interface MailClaim {
  readonly now: number;
  readonly mailsMax: number;
  /** The ids of mails that this process is sending, or has sent and not deleted yet. */
  readonly except: readonly string[];
  /** The pause before the second attempt. It doubles with each attempt, up to `backoffMsMax`. */
  readonly backoffMs: number;
  readonly backoffMsMax: number;
  /** For how long no other process takes the claimed mails. Longer than any transport takes to send one. */
  readonly leaseMs: number;
}

const backoff = "min(?, ? << min(attempts, 30))";

/**
 * Takes mails that are due, so that no other process takes them before the lease and the backoff have ended. Returns
 * `[id, kind, recipient, link_id, action_url, created_at, attempts, link's expires_at, link's redirect_to, link's hash]`;
 * the last three are NULL where the link is not live.
 */
export function claimMails({
  now,
  mailsMax,
  except,
  backoffMs,
  backoffMsMax,
  leaseMs,
}: MailClaim): Statement {
  const link = (column: string) =>
    `(SELECT l.${column} FROM _links l WHERE l.id = link_id AND l.used_at IS NULL AND l.expires_at > ?)`;
  return statement(
    `UPDATE _outbox SET attempts = attempts + 1, next_attempt_at = ? + ${backoff}, leased_until = ?
    WHERE id IN (SELECT id FROM _outbox WHERE next_attempt_at <= ? AND leased_until <= ?
      AND id NOT IN (SELECT value FROM json_each(?)) ORDER BY next_attempt_at, id LIMIT ?)
    RETURNING id, kind, recipient, link_id, action_url, created_at, attempts, ${link("expires_at")}, ${link("redirect_to")}, ${link("hash")}`,
    BigInt(now),
    BigInt(backoffMsMax),
    BigInt(backoffMs),
    BigInt(now + leaseMs),
    BigInt(now),
    BigInt(now),
    JSON.stringify(except),
    BigInt(mailsMax),
    BigInt(now),
    BigInt(now),
    BigInt(now),
  );
}

/**
 * Lets other processes take a mail again whose delivery has failed, so that only the pause before the next attempt has
 * to pass. Does nothing where the mail was claimed again since, which `attempts` tells. `error` says in words what went
 * wrong.
 */
export function releaseMail(id: string, attempts: number, error: string): Statement {
  return statement(
    "UPDATE _outbox SET leased_until = 0, last_error = ? WHERE id = ? AND attempts = ?",
    error,
    id,
    BigInt(attempts),
  );
}

/**
 * What became of a mail: the transport has accepted it (`sent`), it could not be delivered for days (`failed`), or its
 * link was used, expired or replaced before it was sent (`dropped`).
 */
export type MailEnd = "sent" | "failed" | "dropped";

/** Removes a mail from the outbox that has ended, and keeps what became of it. `error` is that of the last attempt. */
export function endMail(id: string, end: MailEnd, now: number, error: string | null): readonly Statement[] {
  return [
    statement(
      `INSERT INTO _past_mails (id, kind, recipient, link_id, action_url, created_at, attempts, state, ended_at, last_error)
      SELECT id, kind, recipient, link_id, action_url, created_at, attempts, ?, ?, ? FROM _outbox WHERE id = ?
      ON CONFLICT DO NOTHING`,
      end,
      BigInt(now),
      error,
      id,
    ),
    statement("DELETE FROM _outbox WHERE id = ?", id),
  ];
}

/** Which mails are listed. */
export interface MailsAsked {
  /** In milliseconds since the epoch. */
  readonly now: number;
  /** Null for all. */
  readonly state: "waiting" | MailEnd | null;
  /** The time and the id of a mail; those that are listed come behind it. Null: from the newest on. */
  readonly after: readonly [createdAtMs: number, id: string] | null;
  readonly limit: number;
}

const sharedColumns = "id, kind, recipient, link_id, action_url, created_at, attempts, last_error";

/**
 * Lists mails that wait, and those that have ended lately, the newest first. Returns `[id, kind, recipient, link_id,
 * action_url, created_at, attempts, last_error, state, next_attempt_at, ended_at, link's hash, link's redirect_to]`; the
 * last two are NULL where the link is not live.
 */
export function listMails({ now, state, after, limit }: MailsAsked): Statement {
  const isPast = state !== null && state !== "waiting";
  const parts = [
    ...(isPast
      ? []
      : [
          `SELECT ${sharedColumns}, 'waiting' AS state, next_attempt_at, NULL AS ended_at FROM _outbox WHERE`,
        ]),
    ...(state === "waiting"
      ? []
      : [
          `SELECT ${sharedColumns}, state, NULL, ended_at FROM _past_mails WHERE ${isPast ? "state = ? AND" : ""}`,
        ]),
  ];
  const behind = after === null ? "true" : "(created_at, id) < (?, ?)";
  const place = after === null ? [] : [BigInt(after[0]), after[1]];
  return statement(
    `SELECT m.*, l.hash, l.redirect_to FROM
      (${parts.map((part) => `${part} ${behind}`).join(" UNION ALL ")} ORDER BY created_at DESC, id DESC LIMIT ?) AS m
    LEFT JOIN _links l ON l.id = m.link_id AND l.used_at IS NULL AND l.expires_at > ?
    ORDER BY m.created_at DESC, m.id DESC`,
    ...(isPast ? [state] : []),
    ...parts.flatMap(() => place),
    BigInt(limit),
    BigInt(now),
  );
}

/**
 * Makes mails that wait for another attempt due now; for the start of a process. Mails that another process has claimed
 * stay claimed.
 */
export function makeMailsDue(now: number): Statement {
  return statement(
    "UPDATE _outbox SET next_attempt_at = ? WHERE next_attempt_at > ?",
    BigInt(now),
    BigInt(now),
  );
}
