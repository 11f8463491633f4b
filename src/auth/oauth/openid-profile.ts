import type { IDToken } from "oauth4webapi";
import type { OAuthProvider } from "./credentials.js";
import { type Profile, ProviderError } from "./provider.js";

/**
 * The profile of a person from the claims of a verified ID token. `email_verified` may be the string `"true"`, as Apple
 * sends it at times. Throws ProviderError where there is no ID token.
 */
export function openIdProfile(provider: OAuthProvider, { claims }: { readonly claims: IDToken | undefined }): Profile {
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
