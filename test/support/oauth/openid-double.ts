import { exportJWK, generateKeyPair, SignJWT } from "jose";
import type { Endpoints } from "../../../src/auth/oauth/provider.js";
import { listen } from "./loopback.js";

/** What the next sign-in gets; everything that is left out is as it should be. */
export interface Forgery {
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Claims of the ID token that are missing. */
  readonly without?: readonly string[];
  /** The ID token is signed with a key that is not the provider's. */
  readonly foreignKey?: boolean;
  readonly algorithm?: "RS256" | "HS256" | "none";
  /** Of the authorization response (RFC 9207). */
  readonly iss?: string;
  /** Instead of the token response. */
  readonly tokenResponse?: {
    readonly status: number;
    readonly headers?: Record<string, string>;
    readonly body: string;
  };
}

export interface OpenIdDouble {
  readonly endpoints: Endpoints;
  forgery: Forgery;
  /** Token requests so far, as they were sent. */
  readonly tokenRequests: URLSearchParams[];
}

const keys = Promise.all([
  generateKeyPair("RS256", { extractable: true }),
  generateKeyPair("RS256", { extractable: true }),
]);

/** A hand-made OpenID provider, which says what no certified one would. */
export async function openIdDouble(clientId: string): Promise<OpenIdDouble> {
  const [own, foreign] = await keys;
  const jwks = { keys: [{ ...(await exportJWK(own.publicKey)), alg: "RS256", use: "sig", kid: "one" }] };
  const state = { forgery: {} as Forgery, tokenRequests: [] as URLSearchParams[] };
  /** By code. */
  const nonces = new Map<string, string>();
  const idToken = async (issuer: string, nonce: string | undefined): Promise<string> => {
    const { claims, without = [], foreignKey, algorithm = "RS256" } = state.forgery;
    const now = Math.floor(Date.now() / 1000);
    const all: Record<string, unknown> = {
      iss: issuer,
      aud: clientId,
      sub: "double-1",
      nonce,
      iat: now,
      exp: now + 600,
      email: "double@example.com",
      email_verified: true,
      // Of Google's hosted domains, for whose addresses it answers.
      hd: "example.com",
      ...claims,
    };
    for (const name of without) delete all[name];
    if (algorithm === "none") return unsigned(all);
    const key = algorithm === "HS256" ? new TextEncoder().encode(JSON.stringify(jwks.keys[0])) : undefined;
    return new SignJWT(all)
      .setProtectedHeader({ alg: algorithm, kid: "one" })
      .sign(key ?? (foreignKey ? foreign : own).privateKey);
  };
  const url = await listen((issuer) => async (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, issuer);
    const json = (body: string, status = 200, headers: Record<string, string> = {}) =>
      response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(body);
    switch (pathname) {
      case "/authorize": {
        const code = `code ${nonces.size}`;
        nonces.set(code, searchParams.get("nonce")!);
        const answer = new URLSearchParams({ code, state: searchParams.get("state")! });
        if (state.forgery.iss !== undefined) answer.set("iss", state.forgery.iss);
        response.writeHead(302, { Location: `${searchParams.get("redirect_uri")}?${answer}` }).end();
        return;
      }
      case "/token": {
        let body = "";
        for await (const chunk of request.setEncoding("utf8")) body += chunk;
        const sent = new URLSearchParams(body);
        state.tokenRequests.push(sent);
        const nonce = nonces.get(sent.get("code")!);
        const instead = state.forgery.tokenResponse;
        if (instead !== undefined) json(instead.body, instead.status, instead.headers);
        else
          json(
            JSON.stringify({
              access_token: "at",
              token_type: "Bearer",
              id_token: await idToken(issuer, nonce),
            }),
          );
        return;
      }
      default:
        json(JSON.stringify(jwks));
    }
  });
  const endpoints = {
    issuer: url,
    authorization: `${url}/authorize`,
    token: `${url}/token`,
    jwks: `${url}/jwks`,
  };
  return Object.assign(state, { endpoints });
}

function unsigned(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "none" })}.${part(claims)}.`;
}
