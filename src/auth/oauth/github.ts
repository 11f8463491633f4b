import * as v from "valibot";
import { CredentialsError } from "../../platform/platform.js";
import { authorizationServer, exchangeCode } from "./code-grant.js";
import { clientSecretCredentials, parseCredentials } from "./credentials.js";
import type { HttpClient } from "./http-client.js";
import { type Endpoints, type Profile, type Provider, ProviderError } from "./provider.js";
import { codeChallengeOf, withQuery } from "./state.js";

/**
 * GitHub's endpoints for sign-in (docs.github.com/apps/oauth-apps). `issuer` is the `iss` of its authorization
 * responses (RFC 9207).
 */
export const githubEndpoints: Endpoints & { readonly api: string } = {
  issuer: "https://github.com/login/oauth",
  authorization: "https://github.com/login/oauth/authorize",
  token: "https://github.com/login/oauth/access_token",
  api: "https://api.github.com",
};

/**
 * Makes the provider GitHub: OAuth 2.0 with PKCE (S256). There is no ID token, so GitHub's REST interface is asked who
 * signed in.
 */
export function github(endpoints: Endpoints, http: HttpClient): Provider {
  const server = authorizationServer(endpoints);
  const api = endpoints.api ?? githubEndpoints.api;
  return {
    name: "github",
    callbackMethod: "GET",
    connect: (text) => {
      const credentials = parseCredentials(clientSecretCredentials, text);
      if (credentials === null) throw new CredentialsError("the credentials of github are incomplete");
      const { client_id: clientId, client_secret: clientSecret } = credentials;
      return {
        authorizationUrl: async ({ redirectUri, state, secrets }) =>
          withQuery(endpoints.authorization, {
            client_id: clientId,
            redirect_uri: redirectUri,
            response_type: "code",
            scope: "read:user user:email",
            state,
            code_challenge: await codeChallengeOf(secrets.codeVerifier),
            code_challenge_method: "S256",
          }),
        profile: async (response) => {
          const grant = { server, clientId, clientSecret, response, pkce: true, http };
          const { accessToken } = await exchangeCode(grant, { openId: false });
          const [user, emails] = await Promise.all([
            read(userSchema, http, `${api}/user`, accessToken),
            read(emailsSchema, http, `${api}/user/emails`, accessToken),
          ]);
          return githubProfile(user, emails);
        },
      };
    },
  };
}

/**
 * The schema of what GitHub says of a user. The numeric id identifies an account, because a login name can pass to
 * another person.
 */
const userSchema = v.object({ id: v.pipe(v.number(), v.safeInteger(), v.minValue(1)) });
const emailsSchema = v.array(v.object({ email: v.string(), primary: v.boolean(), verified: v.boolean() }));

/**
 * Makes the profile of a GitHub account from what GitHub has answered. Of its email addresses only the primary one
 * counts, because an account can hold several others; `email` is null where none is primary.
 */
export function githubProfile(
  { id }: v.InferOutput<typeof userSchema>,
  emails: v.InferOutput<typeof emailsSchema>,
): Profile {
  const primary = emails.find((entry) => entry.primary);
  const emailVerified = primary?.verified ?? false;
  return {
    provider: "github",
    subject: String(id),
    email: primary?.email ?? null,
    emailVerified,
    mayLink: emailVerified,
  };
}

async function read<const S extends v.GenericSchema>(
  schema: S,
  http: HttpClient,
  url: string,
  accessToken: string,
): Promise<v.InferOutput<S>> {
  const { pathname } = new URL(url);
  const response = await http(url, {
    headers: {
      Authorization: `Bearer ${accessToken}`,
      Accept: "application/vnd.github+json",
      "User-Agent": "svc",
      "X-GitHub-Api-Version": "2022-11-28",
    },
  });
  if (response.status !== 200)
    throw new ProviderError("provider_error", `${pathname} answered ${response.status}`);
  const result = v.safeParse(schema, await response.json().catch(() => null));
  if (result.success) return result.output;
  throw new ProviderError("provider_error", `${pathname} answered something unexpected`);
}
