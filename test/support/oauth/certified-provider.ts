import { exportJWK, generateKeyPair } from "jose";
import Provider, { type Configuration } from "oidc-provider";
import { vi } from "vitest";
import type { Endpoints } from "../../../src/auth/oauth/provider.js";
import { listen } from "./loopback.js";

/** Who is signed in at the provider, without being asked. */
export interface Account {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean | string;
  /** Google's claim of a hosted domain. */
  readonly hd?: string;
}

export interface CertifiedProvider {
  readonly endpoints: Endpoints;
  account: Account;
  /** What the person answers at the provider. */
  consents: boolean;
}

export interface CertifiedClient {
  readonly clientId: string;
  readonly redirectUri: string;
  /** The secret, or how one is judged. */
  readonly secret: string | ((presented: string) => Promise<boolean>);
  readonly pkceRequired: boolean;
}

const signingKey = generateKeyPair("RS256", { extractable: true });

/** `oidc-provider`, a certified OpenID provider, on a loopback address until the test ends. */
export async function certifiedProvider(client: CertifiedClient): Promise<CertifiedProvider> {
  const state: { account: Account; consents: boolean } = { account: { sub: "nobody" }, consents: true };
  const jwk = { ...(await exportJWK((await signingKey).privateKey)), alg: "RS256", use: "sig", kid: "one" };
  const url = await listen((issuer) => {
    const provider = quietly(
      () =>
        new Provider(
          issuer,
          configuration(client, jwk, () => state.account),
        ),
    );
    const answer = provider.callback();
    if (typeof client.secret === "function") judgeSecrets(provider, client.secret);
    return async (request, response) => {
      if (!request.url!.startsWith("/interaction/")) return answer(request, response);
      await provider.interactionFinished(
        request,
        response,
        state.consents
          ? { login: { accountId: state.account.sub } }
          : { error: "access_denied", error_description: "no, thank you" },
      );
    };
  });
  const endpoints = {
    issuer: url,
    authorization: `${url}/auth`,
    token: `${url}/token`,
    jwks: `${url}/jwks`,
  };
  return Object.assign(state, { endpoints });
}

function configuration(client: CertifiedClient, jwk: object, account: () => Account): Configuration {
  return {
    clients: [
      {
        client_id: client.clientId,
        client_secret: typeof client.secret === "string" ? client.secret : "judged elsewhere",
        token_endpoint_auth_method: "client_secret_post",
        redirect_uris: [client.redirectUri],
        response_types: ["code"],
        grant_types: ["authorization_code"],
      },
    ],
    jwks: { keys: [jwk] },
    cookies: { keys: ["a key of the test suite"] },
    claims: { openid: ["sub"], email: ["email", "email_verified", "hd"] },
    // Google and Apple put the claims of a scope into the ID token.
    conformIdTokenClaims: false,
    pkce: { required: () => client.pkceRequired },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_, sub) => ({ accountId: sub, claims: async () => ({ ...account(), sub }) }),
    // The person is not asked what the application may know of them.
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client!.clientId,
        accountId: oidc.session!.accountId!,
      });
      grant.addOIDCScope("openid email");
      await grant.save();
      return grant;
    },
    ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
  };
}

/** It warns that its storage is in memory, which is what a test wants. */
function quietly<T>(make: () => T): T {
  const warnings = vi.spyOn(console, "warn").mockImplementation(() => {});
  try {
    return make();
  } finally {
    warnings.mockRestore();
  }
}

/** For secrets that are assertions, such as Apple's. */
function judgeSecrets(provider: Provider, judge: (presented: string) => Promise<boolean>): void {
  (provider.Client.prototype as unknown as { compareClientSecret: typeof judge }).compareClientSecret = judge;
}
