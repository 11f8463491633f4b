import { exportPKCS8, generateKeyPair, jwtVerify } from "jose";
import { describe, expect, it } from "vitest";
import { client, dataOf, expectAnswer } from "../../support/client.js";
import { certifiedProvider } from "../../support/oauth/certified-provider.js";
import { callbackOf, schema, signInWith, tokensWith } from "../../support/oauth/flow.js";
import { githubDouble } from "../../support/oauth/github-double.js";
import { countOf, rowsOf } from "../../support/people.js";
import { serve } from "../../support/server.js";

const credentials = { client_id: "the client", client_secret: "the provider's own secret" };

async function asGoogle() {
  const provider = await certifiedProvider({
    clientId: credentials.client_id,
    redirectUri: callbackOf("google"),
    secret: credentials.client_secret,
    pkceRequired: true,
  });
  const server = await serve({
    schema: schema(),
    credentials: { google: JSON.stringify(credentials) },
    providerEndpoints: { google: provider.endpoints },
  });
  return { provider, server };
}

describe("google", () => {
  it("signs a new person in: a verified user without a password, and a session", async () => {
    const { provider, server } = await asGoogle();
    provider.account = { sub: "g-1", email: "Ada@Example.com", email_verified: true };
    const tokens = await tokensWith(server, "google");
    expect(tokens).toEqual({
      user: { id: expect.stringMatching(/^[0-9a-f]{32}$/), email: "Ada@Example.com", role: "user" },
      access_token: expect.any(String),
      refresh_token: expect.any(String),
      token_type: "Bearer",
      expires_in: 900,
    });
    const me = await client(server, { Authorization: `Bearer ${tokens.access_token}` }).get("/auth/me");
    expect(dataOf<{ user: object }>(me).user).toMatchObject({ id: tokens.user.id, email_verified: true });
    expect(await rowsOf(server, "SELECT password_hash FROM _users")).toEqual([[null]]);
    expect(await rowsOf(server, "SELECT provider, subject, user_id FROM _identities")).toEqual([
      ["google", "g-1", tokens.user.id],
    ]);
  });

  it("knows a person again by provider and sub, whatever the address has become", async () => {
    const { provider, server } = await asGoogle();
    provider.account = { sub: "g-1", email: "ada@example.com", email_verified: true };
    const first = await tokensWith(server, "google");
    provider.account = { sub: "g-1", email: "elsewhere@example.com", email_verified: false };
    expect((await tokensWith(server, "google")).user).toEqual(first.user);
    provider.account = { sub: "g-1" };
    expect((await tokensWith(server, "google")).user).toEqual(first.user);
    expect(await countOf(server, "_users")).toBe(1);
  });

  it("tells the application that the person said no", async () => {
    const { provider, server } = await asGoogle();
    provider.consents = false;
    const { told } = await signInWith(server, "google");
    expect(Object.fromEntries(told)).toEqual({
      error: "access_denied",
      error_description: "the sign-in was cancelled",
    });
    expect(await countOf(server, "_users")).toBe(0);
    expect(server.log.lines).toEqual([]);
  });

  it("fails where the provider refuses the credentials, and says so in the log without them", async () => {
    const { provider } = await asGoogle();
    const secret = "not the provider's secret";
    const server = await serve({
      schema: schema(),
      credentials: { google: JSON.stringify({ ...credentials, client_secret: secret }) },
      providerEndpoints: { google: provider.endpoints },
    });
    expect((await signInWith(server, "google")).told.get("error")).toBe("provider_error");
    expect(server.log.lines).toEqual(["sign-in with google failed: the token endpoint answered 401 invalid_client"]);
  });
});

describe("apple", () => {
  it("posts a form back, and takes a client secret that the team's key has signed", async () => {
    const key = await generateKeyPair("ES256", { extractable: true });
    const installed = {
      client_id: "com.example.app",
      team_id: "TEAM123456",
      key_id: "KEY1234567",
      private_key_p8: await exportPKCS8(key.privateKey),
    };
    const judged: unknown[] = [];
    const provider = await certifiedProvider({
      clientId: installed.client_id,
      redirectUri: callbackOf("apple"),
      pkceRequired: false,
      secret: async (presented) => {
        const { payload, protectedHeader } = await jwtVerify(presented, key.publicKey, {
          algorithms: ["ES256"],
          issuer: installed.team_id,
          subject: installed.client_id,
          audience: provider.endpoints.issuer,
          currentDate: new Date(server.clock.now()),
        });
        judged.push({ kid: protectedHeader.kid, lifetimeSeconds: payload.exp! - payload.iat! });
        return true;
      },
    });
    const server = await serve({
      schema: schema(),
      config: '[auth]\ncookie_mode = true\n[cors]\nallowed_origins = ["https://app.example.com"]',
      credentials: { apple: JSON.stringify(installed) },
      providerEndpoints: { apple: provider.endpoints },
    });
    provider.account = { sub: "a-1", email: "x1y2@privaterelay.example.com", email_verified: "true" };
    const tokens = await tokensWith(server, "apple");
    expect(tokens.user.email).toBe("x1y2@privaterelay.example.com");
    expect(judged).toEqual([{ kid: installed.key_id, lifetimeSeconds: 300 }]);
  });
});

describe("github", () => {
  const octocat = { id: 583231, login: "octocat" };

  async function asGithub() {
    const provider = await githubDouble(credentials);
    const server = await serve({
      schema: schema(),
      credentials: { github: JSON.stringify(credentials) },
      providerEndpoints: { github: provider.endpoints },
    });
    return { provider, server };
  }

  it("signs in by the numeric id and the primary address", async () => {
    const { provider, server } = await asGithub();
    provider.user = octocat;
    provider.emails = [
      { email: "other@example.com", primary: false, verified: true },
      { email: "octo@example.com", primary: true, verified: true },
    ];
    const first = await tokensWith(server, "github");
    expect(first.user.email).toBe("octo@example.com");
    expect(await rowsOf(server, "SELECT subject FROM _identities")).toEqual([["583231"]]);
    provider.user = { id: octocat.id, login: "renamed" };
    expect((await tokensWith(server, "github")).user).toEqual(first.user);
  });

  it("counts no address but a verified primary one", async () => {
    const { provider, server } = await asGithub();
    for (const emails of [
      [],
      [{ email: "octo@example.com", primary: true, verified: false }],
      [{ email: "octo@example.com", primary: false, verified: true }],
    ]) {
      provider.emails = emails;
      expect((await signInWith(server, "github")).told.get("error")).toBe("email_not_verified");
    }
    expect(await countOf(server, "_users")).toBe(0);
  });

  it("takes nothing but a number for an id", async () => {
    const { provider, server } = await asGithub();
    provider.emails = [{ email: "octo@example.com", primary: true, verified: true }];
    for (const id of ["583231", 1.5, -1, null, 2 ** 60]) {
      provider.user = { id, login: "octocat" };
      expect((await signInWith(server, "github")).told.get("error")).toBe("provider_error");
    }
    expect(await countOf(server, "_identities")).toBe(0);
  });
});

describe("GET /auth/oauth/providers", () => {
  it("lists what is declared and has credentials, under the canonical address, whatever Host says", async () => {
    const server = await serve({
      schema: schema().replace("[google, apple, github]", "[google, apple]"),
      config: '[auth]\npublic_base_url = "https://api.example.com"',
      credentials: { google: JSON.stringify(credentials), github: JSON.stringify(credentials) },
    });
    const answer = await client(server, { "X-Forwarded-Host": "evil.example" }).get("/auth/oauth/providers");
    expectAnswer(answer, 200, {
      data: [{ provider: "google", callback_url: "https://api.example.com/auth/oauth/callback/google" }],
    });
    expect(answer.text).not.toContain(credentials.client_secret);
    expect((await client(server).post("/auth/oauth/providers", {})).status).toBe(405);
  });

  it("leaves out a provider whose credentials are not usable, and logs once why", async () => {
    const server = await serve({ schema: schema(), credentials: { google: '{"client_id":"x"}' } });
    for (let i = 0; i < 3; i++) expectAnswer(await client(server).get("/auth/oauth/providers"), 200, { data: [] });
    expect(server.log.lines).toEqual(["the credentials of google are incomplete"]);
  });
});
