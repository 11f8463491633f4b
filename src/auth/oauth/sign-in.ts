import { hashSecret } from "../../encoding/hash-secret.js";
import { newId } from "../../platform/new-id.js";
import type { Platform } from "../../platform/platform.js";
import { run } from "../../platform/query.js";
import type { AuthSettings } from "../../project/model.js";
import { emailKey, isEmail } from "../email.js";
import { type IdentitySignIn, type SignInFacts, signInByIdentity } from "../store/identities.js";
import type { Profile, ProviderFailure } from "./provider.js";
import { exchangeCodeLifetimeMs, newSecret } from "./state.js";

/** The `error` that the application gets for a social sign-in that failed (docs/reference/auth.md#social-sign-in). */
export type SignInFailure = ProviderFailure | "email_not_verified" | "registration_closed" | "account_disabled";

/** The `error_description` that goes with each `error` of a failed social sign-in. */
export const failureDescriptions: Readonly<Record<SignInFailure, string>> = {
  access_denied: "the sign-in was cancelled",
  provider_error: "the sign-in at the provider failed",
  email_not_verified: "the address of the account is not verified",
  registration_closed: "registration is not open to the public",
  account_disabled: "the account is disabled",
};

/** Why a social sign-in failed; null where it succeeded. */
export function judgeSignIn(facts: SignInFacts): SignInFailure | null {
  if (facts.codeStored) return null;
  if (facts.identityDisabled === true) return "account_disabled";
  if (!facts.addressVerified) return "email_not_verified";
  if (facts.addressDisabled === true) return "account_disabled";
  // If `addressDisabled` is null, nobody has the address, but a user may not be created for it. Otherwise an enabled
  // user has the address and was not linked to the identity, because this server has not verified that user's address,
  // or the provider does not vouch for the address as of now.
  return facts.addressDisabled === null ? "registration_closed" : "email_not_verified";
}

/** A person who has signed in at a provider and is to be signed in to this server. */
export interface ProfileSignIn {
  readonly profile: Profile;
  readonly registration: AuthSettings["registration"];
  /**
   * The PKCE challenge (RFC 7636) that the application has sent when the sign-in began. Whoever exchanges the code for
   * tokens has to know its verifier.
   */
  readonly codeChallenge: string;
}

/**
 * Signs a person in by what a sign-in provider says of them; this may create their account. Returns a code that the
 * application exchanges for tokens, or why the sign-in failed.
 */
export async function signInByProfile(
  context: { readonly platform: Platform },
  { profile, registration, codeChallenge }: ProfileSignIn,
): Promise<{ readonly code: string } | { readonly failure: SignInFailure }> {
  const { database, clock, random } = context.platform;
  const now = clock.now();
  const code = newSecret(random);
  const email = verifiedEmail(profile);
  const request: IdentitySignIn = {
    provider: profile.provider,
    subject: profile.subject,
    email,
    emailKey: email === null ? null : emailKey(email),
    mayLink: profile.mayLink,
    mayRegister: registration === "public",
    newUserId: newId(random),
    codeHash: await hashSecret(code),
    codeChallenge,
    now,
    codeExpiresAtMs: now + exchangeCodeLifetimeMs,
  };
  const failure = judgeSignIn(await run(database, signInByIdentity(request)));
  return failure === null ? { code } : { failure };
}

/** The address of a profile; null where the provider has not verified it or it is not one that the server accepts. */
export function verifiedEmail({ email, emailVerified }: Profile): string | null {
  return emailVerified && email !== null && isEmail(email) ? email : null;
}
