import { SignJWT } from "jose";
import { fromBase64 } from "../../encoding/base64.js";
import type { Clock } from "../../platform/platform.js";
import { authorizationServer, exchangeCode } from "./code-grant.js";
import { type AppleCredentials, appleCredentials, parseCredentials } from "./credentials.js";
import type { HttpClient } from "./http-client.js";
import { openIdProfile } from "./openid-profile.js";
import { type Endpoints, type Provider, ProviderError } from "./provider.js";
import { withQuery } from "./state.js";

/** Apple's endpoints for sign-in (developer.apple.com/documentation/signinwithapplerestapi). */
export const appleEndpoints: Endpoints = {
  issuer: "https://appleid.apple.com",
  authorization: "https://appleid.apple.com/auth/authorize",
  token: "https://appleid.apple.com/auth/token",
  jwks: "https://appleid.apple.com/auth/keys",
};

const clientSecretSeconds = 300;

/**
 * Makes the provider for sign-in with Apple: OpenID Connect, with the callback as a form that the browser posts (OAuth
 * 2.0 Form Post Response Mode). There is no PKCE; the nonce in the ID token ties the code to the sign-in that was
 * begun.
 */
export function apple(endpoints: Endpoints, http: HttpClient, clock: Clock): Provider {
  const server = authorizationServer(endpoints);
  return {
    name: "apple",
    callbackMethod: "POST",
    connect: (text) => {
      const credentials = parseCredentials("apple", appleCredentials, text);
      const clientId = credentials.client_id;
      return {
        authorizationUrl: async ({ redirectUri, state, secrets }) =>
          withQuery(endpoints.authorization, {
            client_id: clientId,
            redirect_uri: redirectUri,
            response_type: "code",
            response_mode: "form_post",
            scope: "openid email",
            state,
            nonce: secrets.nonce,
          }),
        profile: async (response) => {
          const clientSecret = await appleClientSecret(credentials, endpoints.issuer, clock.now());
          const grant = { server, clientId, clientSecret, response, pkce: false, http };
          return openIdProfile("apple", await exchangeCode(grant, { openId: true }));
        },
      };
    },
  };
}

/**
 * The client secret that Apple expects: a JWT signed with the team's key (ES256), valid for five minutes. `now` is
 * milliseconds since the epoch.
 */
async function appleClientSecret(
  { client_id, team_id, key_id, private_key_p8 }: AppleCredentials,
  audience: string,
  now: number,
): Promise<string> {
  const issuedAt = Math.floor(now / 1000);
  return new SignJWT()
    .setProtectedHeader({ alg: "ES256", kid: key_id })
    .setIssuer(team_id)
    .setSubject(client_id)
    .setAudience(audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + clientSecretSeconds)
    .sign(await signingKey(private_key_p8));
}

async function signingKey(pem: string) {
  try {
    const der = fromBase64(pem.replace(/-----[A-Z ]+-----|\s/g, ""))!;
    return await crypto.subtle.importKey("pkcs8", der, { name: "ECDSA", namedCurve: "P-256" }, false, ["sign"]);
  } catch {
    throw new ProviderError("provider_error", "private_key_p8 of apple is no P-256 key");
  }
}

/** Whether the text is a P-256 private key in PEM form, as the credentials for Apple need one. */
export async function isAppleKey(pem: string): Promise<boolean> {
  return signingKey(pem).then(
    () => true,
    () => false,
  );
}
