import type { Statement } from "../../platform/database.js";
import type { LinkPurpose } from "../links.js";
import { statement } from "./statement.js";
import { isPending } from "./users.js";

/** What a mail says. `registration_attempt` tells the owner of an address that somebody tried to register it. */
export type MailKind = LinkPurpose | "registration_attempt";

export interface NewMail {
  readonly id: string;
  /** The link to announce, where whoever has the address is to get one. */
  readonly linkId: string;
  readonly emailKey: string;
  readonly now: number;
}

/** Who is mailed what; `withLink` is a condition on the user. */
interface MailRule {
  readonly kind: string;
  readonly withLink: string;
  readonly recipients: string;
}

/**
 * Writes a mail, in one batch right behind the statement that counts it and guarded by it. An address without an account
 * takes the same statement and leaves no row.
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

/** A link to confirm the address, or where the account has an owner, confirmed or not, a word to them. */
export function insertRegistrationMail(mail: NewMail): Statement {
  const kind = `iif(${unconfirmedRegistration}, 'email_verification', 'registration_attempt')`;
  return insertMail(mail, { kind, withLink: unconfirmedRegistration, recipients: "true" }, null);
}

/** Nobody is mailed where addresses need not be confirmed: a link would vouch for an account that anybody may have made. */
export function insertVerificationMail(mail: NewMail, { required }: { required: boolean }): Statement {
  const recipients = required ? "email_verified = 0" : "false";
  return insertMail(mail, { kind: "'email_verification'", withLink: "true", recipients }, null);
}

export function insertPasswordResetMail(mail: NewMail): Statement {
  return insertMail(mail, { kind: "'password_reset'", withLink: "true", recipients: "true" }, null);
}

/** A link to accept for whoever has not accepted yet; for everybody else the destination alone. */
export function insertInvitationMail(mail: NewMail, actionUrl: string | null): Statement {
  return insertMail(mail, { kind: "'invitation'", withLink: isPending, recipients: "true" }, actionUrl);
}

/** `[1]` where a mail is due; asked first, as a claim takes the write lock. */
export function anyMailDue(now: number): Statement {
  return statement(
    "SELECT 1 FROM _outbox WHERE next_attempt_at <= ? AND leased_until <= ? LIMIT 1",
    BigInt(now),
    BigInt(now),
  );
}

export interface MailClaim {
  readonly now: number;
  readonly mailsMax: number;
  /** Mails that this process has in hand. */
  readonly except: readonly string[];
  /** Doubled with each attempt, up to `backoffMsMax`. */
  readonly backoffMs: number;
  readonly backoffMsMax: number;
  /** Longer than any transport takes. */
  readonly leaseMs: number;
}

const backoff = "min(?, ? << min(attempts, 30))";

/**
 * Takes mails that are due, so that no other process takes them before the lease and the backoff end. Returns `[id, kind, recipient,
 * link_id, action_url, created_at, attempts, link's expires_at, link's redirect_to]`; the last two NULL where the link is dead.
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
    RETURNING id, kind, recipient, link_id, action_url, created_at, attempts, ${link("expires_at")}, ${link("redirect_to")}`,
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
  );
}

/** After a failed attempt: the lease is over, and the backoff alone counts, unless somebody has claimed the mail since. */
export function releaseMail(id: string, attempts: number): Statement {
  return statement("UPDATE _outbox SET leased_until = 0 WHERE id = ? AND attempts = ?", id, BigInt(attempts));
}

export function deleteMail(id: string): Statement {
  return statement("DELETE FROM _outbox WHERE id = ?", id);
}

/** At start: what waited for another attempt waits no longer, unless some process has it in hand. */
export function makeMailsDue(now: number): Statement {
  return statement(
    "UPDATE _outbox SET next_attempt_at = ? WHERE next_attempt_at > ?",
    BigInt(now),
    BigInt(now),
  );
}
