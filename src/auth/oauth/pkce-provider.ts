import { authorizationServer, exchangeCode } from "./code-grant.js";
import { clientSecretCredentials, type OAuthProvider, parseCredentials } from "./credentials.js";
import type { HttpClient } from "./http-client.js";
import type { Endpoints, Profile, Provider } from "./provider.js";
import { codeChallengeOf, withQuery } from "./state.js";

/** What the providers differ in that use the code grant with PKCE (S256) and a client secret. */
export interface PkceProvider {
  readonly name: OAuthProvider;
  readonly scope: string;
  /** Whether the provider returns an ID token (OpenID Connect), which is bound to a nonce. */
  readonly openId: boolean;
  /** Makes the profile of the person who has signed in. */
  readonly profileOf: (exchanged: Awaited<ReturnType<typeof exchangeCode>>) => Promise<Profile> | Profile;
}

/** Makes a provider that uses the code grant with PKCE (RFC 7636) and a client secret. */
export function pkceProvider(
  { name, scope, openId, profileOf }: PkceProvider,
  endpoints: Endpoints,
  http: HttpClient,
): Provider {
  const server = authorizationServer(endpoints);
  return {
    name,
    callbackMethod: "GET",
    connect: (text) => {
      const credentials = parseCredentials(name, clientSecretCredentials, text);
      const { client_id: clientId, client_secret: clientSecret } = credentials;
      return {
        authorizationUrl: async ({ redirectUri, state, secrets }) =>
          withQuery(endpoints.authorization, {
            client_id: clientId,
            redirect_uri: redirectUri,
            response_type: "code",
            scope,
            state,
            ...(openId && { nonce: secrets.nonce }),
            code_challenge: await codeChallengeOf(secrets.codeVerifier),
            code_challenge_method: "S256",
          }),
        profile: async (response) => {
          const grant = { server, clientId, clientSecret, response, pkce: true, http };
          return profileOf(await exchangeCode(grant, { openId }));
        },
      };
    },
  };
}
