import * as v from "valibot";
import type { HttpClient } from "./http-client.js";
import { type PkceProvider, pkceProvider } from "./pkce-provider.js";
import { type Endpoints, type Profile, type Provider, ProviderError } from "./provider.js";

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
  const api = endpoints.api ?? githubEndpoints.api;
  const profileOf: PkceProvider["profileOf"] = async ({ accessToken }) => {
    const [user, emails] = await Promise.all([
      read(userSchema, http, `${api}/user`, accessToken),
      read(emailsSchema, http, `${api}/user/emails`, accessToken),
    ]);
    return githubProfile(user, emails);
  };
  const scope = "read:user user:email";
  return pkceProvider({ name: "github", scope, openId: false, profileOf }, endpoints, http);
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
  if (response.status !== 200) throw new ProviderError("provider_error", `${pathname} answered ${response.status}`);
  const result = v.safeParse(schema, await response.json().catch(() => null));
  if (result.success) return result.output;
  throw new ProviderError("provider_error", `${pathname} answered something unexpected`);
}
