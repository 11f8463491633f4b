import type { IDToken } from "oauth4webapi";
import type { OAuthProvider } from "./credentials.js";
import { type Profile, ProviderError } from "./provider.js";

/** The profile in the claims of a verified ID token. Apple writes `email_verified` as a string at times. */
export function openIdProfile(
  provider: OAuthProvider,
  { claims }: { readonly claims: IDToken | undefined },
): Profile {
  if (claims === undefined) throw new ProviderError("provider_error", "there is no ID token");
  const { sub, email, email_verified } = claims;
  const emailVerified = email_verified === true || email_verified === "true";
  return {
    provider,
    subject: sub,
    email: typeof email === "string" ? email : null,
    emailVerified,
    mayLink: emailVerified,
  };
}
