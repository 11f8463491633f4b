import { type Statement, statement } from "../../platform/database.js";
import { asIs, columns, hasRow, type Query, rowsOf } from "../../platform/query.js";
import type { Condition } from "./condition.js";
import type { LinkPurpose } from "./links.js";
import { isPending } from "./users.js";

/**
 * The kind of a mail, which decides what the mail says. `registration_attempt` tells the owner of an account that
 * somebody has tried to register its address, `email_change_attempt` that somebody with another account has tried to
 * change to its address. The address of an account gets `email_change_notice` when a change to another one is asked
 * for, and `email_changed` when that change is done.
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
  /** The id of the link that the mail is to hold. A mail that turns out to have no link is stored without it. */
  readonly linkId: string;
  readonly emailKey: string;
  readonly now: number;
}

/**
 * Who gets a mail, as SQL on the columns of `_users`. `kind` is an expression for the kind of the mail. `withLink` and
 * `recipients` are conditions: whether the mail has a link, and whether the user gets the mail at all.
 */
interface MailRule {
  readonly kind: string;
  readonly withLink: string;
  readonly recipients: string;
}

/**
 * Makes the statement that writes a mail to the outbox. It goes into one batch directly behind the statement that
 * counts the mail, and writes nothing where that has found the limit reached. It also writes nothing where the address
 * has no account, a disabled one, or one that is not among `rule.recipients`, but is run all the same, so that the time
 * does not reveal it.
 */
function insertMail({ id, linkId, emailKey, now }: NewMail, rule: MailRule, actionUrl: string | null): Statement {
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
 * Makes the statement that writes the mail for a registration. If the address belongs to an unconfirmed registration,
 * the mail has a link to confirm the address. If it belongs to any other account, the mail tells the owner that
 * somebody has tried to register the address.
 */
export function insertRegistrationMail(mail: NewMail): Statement {
  const kind = `iif(${unconfirmedRegistration}, 'email_verification', 'registration_attempt')`;
  return insertMail(mail, { kind, withLink: unconfirmedRegistration, recipients: "true" }, null);
}

/**
 * Makes the statement that writes a mail with a new link to confirm the address, if it is not confirmed yet. Where the
 * project does not want addresses confirmed (`required` is false), nobody is mailed: the link would vouch for an
 * account that anybody may have created.
 */
export function insertVerificationMail(mail: NewMail, { required }: { required: boolean }): Statement {
  const recipients = required ? "email_verified = 0" : "false";
  return insertMail(mail, { kind: "'email_verification'", withLink: "true", recipients }, null);
}

/** Makes the statement that writes a mail with a link to set a new password. */
export function insertPasswordResetMail(mail: NewMail): Statement {
  return insertMail(mail, { kind: "'password_reset'", withLink: "true", recipients: "true" }, null);
}

/**
 * Makes the statement that writes the mail of an invitation. A user who has not accepted yet gets a link to accept it;
 * any other user gets only `actionUrl`.
 */
export function insertInvitationMail(mail: NewMail, actionUrl: string | null): Statement {
  return insertMail(mail, { kind: "'invitation'", withLink: isPending, recipients: "true" }, actionUrl);
}

/** A mail to a new email address, with the link that makes it the address of a user's account. */
export interface EmailChangeMail extends NewMail {
  /** The new address, spelled as the user has given it. */
  readonly email: string;
}

/**
 * Makes the statement that writes a mail to the new address that a user has asked for, with the link that completes the
 * change. If another account has that address, its owner gets a mail without a link, or none if that account is
 * disabled. Nobody is mailed where `owner`, a condition on `_users AS u`, matches nobody. It goes into one batch
 * directly behind the statement that counts the mail, and writes nothing where that has found the limit reached.
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

/**
 * Makes the statement that writes a notice to the present address of the user whom `owner` matches: a change to another
 * address was asked for. It goes into one batch directly behind the statement that counts the mail, and writes nothing
 * where that has found the limit reached.
 */
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

/** Whether a mail is due. It is asked before `claimMails`, which would take the write lock even where no mail is due. */
export function anyMailDue(now: number): Query<boolean> {
  const select = statement(
    "SELECT 1 FROM _outbox WHERE next_attempt_at <= ? AND leased_until <= ? LIMIT 1",
    BigInt(now),
    BigInt(now),
  );
  return hasRow(select);
}

/** Which mails a process claims, and when other processes may claim them. Times are milliseconds. */
export interface MailClaim {
  readonly now: number;
  readonly mailsMax: number;
  /**
   * The ids of mails that this process is sending, or has sent and not deleted from the outbox yet. They are not
   * claimed again.
   */
  readonly except: readonly string[];
  /**
   * The pause in milliseconds before the second attempt to send a mail. It doubles with each attempt, up to
   * `backoffMsMax`.
   */
  readonly backoffMs: number;
  readonly backoffMsMax: number;
  /**
   * For how many milliseconds no other process may take the claimed mails. It is longer than any transport takes to
   * send a mail.
   */
  readonly leaseMs: number;
}

const backoff = "min(?, ? << min(attempts, 30))";

const mailReaders = {
  id: asIs<string>,
  kind: asIs<MailKind>,
  recipient: asIs<string>,
  linkId: asIs<string | null>,
  actionUrl: asIs<string | null>,
  createdAtMs: asIs<number>,
  attempts: asIs<number>,
};
const claimedMail = columns({
  ...mailReaders,
  linkExpiresAtMs: asIs<number | null>,
  redirectTo: asIs<string | null>,
  linkHash: asIs<string | null>,
});
/**
 * A mail that a process has claimed to send it. Times are milliseconds since the epoch. Where the mail has no link, or
 * the link can no longer be used, `linkExpiresAtMs`, `redirectTo` and `linkHash` are null.
 */
export type ClaimedMail = ReturnType<typeof claimedMail>;

/**
 * Claims mails which are due, so that no other process takes them before the lease and the pause between attempts have
 * ended.
 */
export function claimMails(claim: MailClaim): Query<readonly ClaimedMail[]> {
  const { now, mailsMax, except, backoffMs, backoffMsMax, leaseMs } = claim;
  const link = (column: string) =>
    `(SELECT l.${column} FROM _links l WHERE l.id = link_id AND l.used_at IS NULL AND l.expires_at > ?)`;
  const update = statement(
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
  return rowsOf(update, claimedMail);
}

/**
 * Makes the statement that gives back a claimed mail whose delivery has failed: any process may take it once the pause
 * before the next attempt is over. It does nothing if the mail was claimed again since, which shows by another value of
 * `attempts`. `error` says in words what went wrong.
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

/**
 * Moves a mail that has ended from the outbox to `_past_mails`, with what became of it. `error` is that of the last
 * attempt to send it; null for none.
 */
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

/** Which mails `listMails` lists. */
export interface MailsAsked {
  /** The current time, in milliseconds since the epoch. */
  readonly now: number;
  /** The state of the listed mails; null for mails in any state. */
  readonly state: "waiting" | MailEnd | null;
  /** The time and the id of the mail behind which the page begins; null to begin with the newest mail. */
  readonly after: readonly [createdAtMs: number, id: string] | null;
  readonly limit: number;
}

const sharedColumns = "id, kind, recipient, link_id, action_url, created_at, attempts, last_error";

const listedMail = columns({
  ...mailReaders,
  lastError: asIs<string | null>,
  state: asIs<"waiting" | MailEnd>,
  nextAttemptAtMs: asIs<number | null>,
  endedAtMs: asIs<number | null>,
  linkHash: asIs<string | null>,
  redirectTo: asIs<string | null>,
});
/**
 * A mail that waits to be sent, or has ended lately. `linkHash` and `redirectTo` are null where the mail has no link, or
 * the link can no longer be used.
 */
export type WaitingOrPastMail = ReturnType<typeof listedMail>;

/** Lists the mails which wait to be sent, and those that have ended lately, the newest first. */
export function listMails({ now, state, after, limit }: MailsAsked): Query<readonly WaitingOrPastMail[]> {
  const isPast = state !== null && state !== "waiting";
  const parts = [
    ...(isPast
      ? []
      : [`SELECT ${sharedColumns}, 'waiting' AS state, next_attempt_at, NULL AS ended_at FROM _outbox WHERE`]),
    ...(state === "waiting"
      ? []
      : [`SELECT ${sharedColumns}, state, NULL, ended_at FROM _past_mails WHERE ${isPast ? "state = ? AND" : ""}`]),
  ];
  const behind = after === null ? "true" : "(created_at, id) < (?, ?)";
  const place = after === null ? [] : [BigInt(after[0]), after[1]];
  const select = statement(
    `SELECT m.*, l.hash, l.redirect_to FROM
      (${parts.map((part) => `${part} ${behind}`).join(" UNION ALL ")} ORDER BY created_at DESC, id DESC LIMIT ?) AS m
    LEFT JOIN _links l ON l.id = m.link_id AND l.used_at IS NULL AND l.expires_at > ?
    ORDER BY m.created_at DESC, m.id DESC`,
    ...(isPast ? [state] : []),
    ...parts.flatMap(() => place),
    BigInt(limit),
    BigInt(now),
  );
  return rowsOf(select, listedMail);
}

/**
 * Makes mails due at once that wait for another attempt to send them. To be run at the start of a process. Mails that
 * another process has claimed stay claimed.
 */
export function makeMailsDue(now: number): Statement {
  return statement("UPDATE _outbox SET next_attempt_at = ? WHERE next_attempt_at > ?", BigInt(now), BigInt(now));
}
