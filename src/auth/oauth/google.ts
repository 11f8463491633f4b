import { CredentialsError } from "../../platform/platform.js";
import { authorizationServer, exchangeCode } from "./code-grant.js";
import { clientSecretCredentials, parseCredentials } from "./credentials.js";
import type { HttpClient } from "./http-client.js";
import { openIdProfile } from "./openid-profile.js";
import type { Endpoints, Profile, Provider } from "./provider.js";
import { codeChallengeOf, withQuery } from "./state.js";

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
  const server = authorizationServer(endpoints);
  return {
    name: "google",
    callbackMethod: "GET",
    connect: (text) => {
      const credentials = parseCredentials(clientSecretCredentials, text);
      if (credentials === null) throw new CredentialsError("the credentials of google are incomplete");
      const { client_id: clientId, client_secret: clientSecret } = credentials;
      return {
        authorizationUrl: async ({ redirectUri, state, secrets }) =>
          withQuery(endpoints.authorization, {
            client_id: clientId,
            redirect_uri: redirectUri,
            response_type: "code",
            scope: "openid email",
            state,
            nonce: secrets.nonce,
            code_challenge: await codeChallengeOf(secrets.codeVerifier),
            code_challenge_method: "S256",
          }),
        profile: async (response) => {
          const grant = { server, clientId, clientSecret, response, pkce: true, http };
          const exchanged = await exchangeCode(grant, { openId: true });
          const profile = openIdProfile("google", exchanged);
          return { ...profile, mayLink: profile.mayLink && isAuthoritative(profile, exchanged.claims?.hd) };
        },
      };
    },
  };
}
