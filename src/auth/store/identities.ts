import { type Statement, statement } from "../../platform/database.js";
import { combined, effect, onlyRow, type Query, together } from "../../platform/query.js";
import { instant } from "./instant.js";
import { invitedRole } from "./links.js";

/**
 * A person who has signed in at a provider and is to be signed in to this server. `provider` and `subject` together are
 * the person's identity.
 */
export interface IdentitySignIn {
  readonly provider: string;
  readonly subject: string;
  /** The person's email address; null where the provider has not verified it. */
  readonly email: string | null;
  readonly emailKey: string | null;
  /**
   * Whether the identity may be given to an existing user with the same email address. If not, only a user who is
   * created for it can have it.
   */
  readonly mayLink: boolean;
  /** Whether a user may be created if nobody has the address yet. */
  readonly mayRegister: boolean;
  /** The id for the user, if a new one is created. */
  readonly newUserId: string;
  /** The hash of the code that the application will exchange for tokens. */
  readonly codeHash: string;
  readonly codeChallenge: string;
  readonly now: number;
  readonly codeExpiresAtMs: number;
}

const unlinked = "NOT EXISTS (SELECT 1 FROM _identities WHERE provider = ? AND subject = ?)";

/**
 * SQL, a condition: the user with this address has never confirmed it, so somebody else than the address's owner may
 * have created the account. It holds only while the identity at the provider has no user yet. It never holds for a
 * disabled user, nor for an administrator, because an operator who creates one by hand may have invented the address.
 */
const unconfirmed = `email_key = ? AND email_verified = 0 AND disabled = 0 AND role <> 'admin' AND ${unlinked}`;

/**
 * What is known of a social sign-in after the batch of `signInByIdentity`. `identityDisabled` and `addressDisabled` say
 * whether a user is disabled: the one linked to the identity at the provider, and the one with the address that the
 * provider has verified. Each is null where there is no such user.
 */
export interface SignInFacts {
  readonly codeStored: boolean;
  readonly identityDisabled: boolean | null;
  readonly addressDisabled: boolean | null;
  /** Whether the provider has verified an address of the person. */
  readonly addressVerified: boolean;
}

/**
 * Finds the user of an identity at a sign-in provider, or takes over or creates that user, and stores an exchange code
 * for the user, all in one batch. An identity that has a user keeps that user, whatever its address is now. One without
 * a user is given, if `mayLink`, to the enabled user with the same address, where this server has verified that or the
 * account is taken over (`takeOver`); if `mayRegister` and nobody has the address, a user is created. Returns what
 * `judgeSignIn` needs.
 */
export function signInByIdentity(request: IdentitySignIn): Query<SignInFacts> {
  const store = effect(
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
  );
  return combined(together(store, signInFacts(request)), ([, facts]) => facts);
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

/**
 * Makes the statements that give an account to the person who has signed in with its address at a provider, if that
 * address was never confirmed here (`unconfirmed`). Whoever created the account loses it: its sessions end, and its
 * codes, links and password are deleted.
 */
function takeOver({ provider, subject, now }: IdentitySignIn, emailKey: string): readonly Statement[] {
  const account = [emailKey, provider, subject] as const;
  const taken = `user_id IN (SELECT id FROM _users WHERE ${unconfirmed})`;
  return [
    statement(`UPDATE _sessions SET revoked_at = ? WHERE revoked_at IS NULL AND ${taken}`, BigInt(now), ...account),
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

function signInFacts({ codeHash, provider, subject, email, emailKey }: IdentitySignIn) {
  const select = statement(
    `SELECT EXISTS (SELECT 1 FROM _oauth_codes WHERE hash = ?),
    (SELECT u.disabled FROM _identities i JOIN _users u ON u.id = i.user_id WHERE i.provider = ? AND i.subject = ?),
    (SELECT disabled FROM _users WHERE email_key = ?)`,
    codeHash,
    provider,
    subject,
    emailKey,
  );
  return onlyRow(select, ([stored, identityDisabled, addressDisabled]) => ({
    codeStored: stored === 1,
    identityDisabled: identityDisabled === null ? null : identityDisabled === 1,
    addressDisabled: addressDisabled === null ? null : addressDisabled === 1,
    addressVerified: email !== null,
  }));
}
