import type { HttpClient } from "./http-client.js";
import { openIdProfile } from "./openid-profile.js";
import { type PkceProvider, pkceProvider } from "./pkce-provider.js";
import type { Endpoints, Profile, Provider } from "./provider.js";

/** Google's endpoints for sign-in (developers.google.com/identity/openid-connect). */
export const googleEndpoints: Endpoints = {
  issuer: "https://accounts.google.com",
  authorization: "https://accounts.google.com/o/oauth2/v2/auth",
  token: "https://oauth2.googleapis.com/token",
  jwks: "https://www.googleapis.com/oauth2/v3/certs",
};

/**
 * Whether Google vouches for a person's email address as of now: only for addresses of gmail.com and of hosted domains
 * (the claim `hd`). Any other address was verified when the account was created and may have passed to another person
 * since (developers.google.com/identity/gsi/web/guides/verify-google-id-token).
 */
function isAuthoritative({ email }: Profile, hostedDomain: unknown): boolean {
  return /@gmail\.com$/i.test(email ?? "") || (typeof hostedDomain === "string" && hostedDomain !== "");
}

/** Makes the provider Google: OpenID Connect with PKCE (S256). */
export function google(endpoints: Endpoints, http: HttpClient): Provider {
  const profileOf: PkceProvider["profileOf"] = (exchanged) => {
    const profile = openIdProfile("google", exchanged);
    return { ...profile, mayLink: profile.mayLink && isAuthoritative(profile, exchanged.claims?.hd) };
  };
  return pkceProvider({ name: "google", scope: "openid email", openId: true, profileOf }, endpoints, http);
}
