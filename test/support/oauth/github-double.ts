import { createHash } from "node:crypto";
import type { Endpoints } from "../../../src/auth/oauth/provider.js";
import { listen } from "./loopback.js";

export interface GithubEmail {
  readonly email: string;
  readonly primary: boolean;
  readonly verified: boolean;
}

export interface GithubDouble {
  readonly endpoints: Endpoints;
  user: { readonly id: unknown; readonly login: string };
  emails: readonly GithubEmail[];
}

/** A double of GitHub: its authorization, its token endpoint with PKCE, and the two calls of its REST interface. */
export async function githubDouble(credentials: {
  readonly client_id: string;
  readonly client_secret: string;
}): Promise<GithubDouble> {
  const state = {
    user: { id: 1 as unknown, login: "octocat" },
    emails: [] as readonly GithubEmail[],
  };
  const challenges = new Map<string, string>();
  const url = await listen((base) => async (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, base);
    const json = (body: unknown, status = 200) =>
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    if (pathname === "/authorize") {
      const code = `code ${challenges.size}`;
      challenges.set(code, searchParams.get("code_challenge")!);
      const answer = new URLSearchParams({ code, state: searchParams.get("state")!, iss: base });
      response.writeHead(302, { Location: `${searchParams.get("redirect_uri")}?${answer}` }).end();
      return;
    }
    if (pathname === "/access_token") {
      let body = "";
      for await (const chunk of request.setEncoding("utf8")) body += chunk;
      const form = new URLSearchParams(body);
      const challenge = createHash("sha256")
        .update(form.get("code_verifier") ?? "")
        .digest("base64url");
      const fits =
        form.get("client_id") === credentials.client_id &&
        form.get("client_secret") === credentials.client_secret &&
        challenges.get(form.get("code")!) === challenge;
      // GitHub answers 200 to a bad request, with an error in the body.
      json(
        fits
          ? { access_token: "gho_double", token_type: "bearer", scope: "read:user,user:email" }
          : { error: "bad_verification_code" },
      );
      return;
    }
    const isAllowed =
      request.headers.authorization === "Bearer gho_double" && request.headers["user-agent"] !== undefined;
    if (!isAllowed) json({ message: "Bad credentials" }, 401);
    else json(pathname === "/user" ? state.user : state.emails);
  });
  const endpoints = {
    issuer: url,
    authorization: `${url}/authorize`,
    token: `${url}/access_token`,
    api: url,
  };
  return Object.assign(state, { endpoints });
}
