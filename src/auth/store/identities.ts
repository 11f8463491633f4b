import type { Statement } from "../../platform/database.js";
import { invitedRole } from "./links.js";
import { instant, statement } from "./statement.js";

/** A person that a provider has vouched for, on their way in. */
export interface IdentitySignIn {
  readonly provider: string;
  readonly subject: string;
  /** The address; null unless the provider has verified it. */
  readonly email: string | null;
  readonly emailKey: string | null;
  /** The user who has the address may be linked; else one who is made of it alone. */
  readonly mayLink: boolean;
  /** A user may be made of an address that nobody has yet. */
  readonly mayRegister: boolean;
  /** The id of a user that has yet to be made. */
  readonly newUserId: string;
  /** The code that the application will exchange. */
  readonly codeHash: string;
  readonly codeChallenge: string;
  readonly now: number;
  readonly codeExpiresAtMs: number;
}

const unlinked = "NOT EXISTS (SELECT 1 FROM _identities WHERE provider = ? AND subject = ?)";

/**
 * A local account whose address nobody has confirmed: it may be a squatter's. One of an administrator is left alone,
 * as whoever made it by hand may have made up the address too.
 */
const unconfirmed = `email_key = ? AND email_verified = 0 AND disabled = 0 AND role <> 'admin' AND ${unlinked}`;

/**
 * Finds, takes over, or makes the user of an identity, and stores an exchange code for them, in one batch. An identity
 * that is known is its user's whatever the address says; another one links only between verified addresses. The last
 * statement says what has become of it; see `judgeSignIn`.
 */
export function signInByIdentity(request: IdentitySignIn): readonly Statement[] {
  return [
    ...(request.email === null ? [] : byAddress(request, request.email, request.emailKey!)),
    statement(
      `INSERT INTO _oauth_codes (hash, user_id, code_challenge, created_at, expires_at)
      SELECT ?, u.id, ?, ?, ? FROM _identities i JOIN _users u ON u.id = i.user_id
      WHERE i.provider = ? AND i.subject = ? AND u.disabled = 0`,
      request.codeHash,
      request.codeChallenge,
      BigInt(request.now),
      BigInt(request.codeExpiresAtMs),
      request.provider,
      request.subject,
    ),
    signInFacts(request),
  ];
}

function byAddress(request: IdentitySignIn, email: string, emailKey: string): readonly Statement[] {
  const { provider, subject, mayLink, mayRegister, newUserId, now } = request;
  return [
    ...(mayLink ? takeOver(request, emailKey) : []),
    statement(
      `INSERT INTO _users (id, email, email_key, role, email_verified, created_at)
      SELECT ?, ?, ?, 'user', 1, ? WHERE ? AND ${unlinked} ON CONFLICT (email_key) DO NOTHING`,
      newUserId,
      email,
      emailKey,
      instant(now),
      BigInt(mayRegister),
      provider,
      subject,
    ),
    statement(
      `INSERT INTO _identities (provider, subject, user_id, email, created_at)
      SELECT ?, ?, id, ?, ? FROM _users WHERE email_key = ? AND email_verified = 1 AND disabled = 0 AND (? OR id = ?)
      ON CONFLICT DO NOTHING`,
      provider,
      subject,
      email,
      BigInt(now),
      emailKey,
      BigInt(mayLink),
      newUserId,
    ),
  ];
}

/** Of an account that nobody has confirmed: what its maker knows of it opens it no more. */
function takeOver({ provider, subject, now }: IdentitySignIn, emailKey: string): readonly Statement[] {
  const account = [emailKey, provider, subject] as const;
  const taken = `user_id IN (SELECT id FROM _users WHERE ${unconfirmed})`;
  return [
    statement(
      `UPDATE _sessions SET revoked_at = ? WHERE revoked_at IS NULL AND ${taken}`,
      BigInt(now),
      ...account,
    ),
    statement(`DELETE FROM _oauth_codes WHERE ${taken}`, ...account),
    statement(`DELETE FROM _known_addresses WHERE ${taken}`, ...account),
    statement(
      `UPDATE _users SET password_hash = NULL, email_verified = 1, registration_unconfirmed = 0, role = ifnull(${invitedRole}, role)
      WHERE ${unconfirmed}`,
      BigInt(now),
      ...account,
    ),
    statement(
      "DELETE FROM _links WHERE changes() = 1 AND user_id = (SELECT id FROM _users WHERE email_key = ?)",
      emailKey,
    ),
  ];
}

/** `[code was stored, user of the identity is disabled, user of the address is disabled]`, NULL for no such user. */
function signInFacts({ codeHash, provider, subject, emailKey }: IdentitySignIn): Statement {
  return statement(
    `SELECT EXISTS (SELECT 1 FROM _oauth_codes WHERE hash = ?),
    (SELECT u.disabled FROM _identities i JOIN _users u ON u.id = i.user_id WHERE i.provider = ? AND i.subject = ?),
    (SELECT disabled FROM _users WHERE email_key = ?)`,
    codeHash,
    provider,
    subject,
    emailKey,
  );
}
