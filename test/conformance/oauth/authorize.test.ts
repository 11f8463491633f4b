import { describe, expect, it } from "vitest";
import { client, dataOf, expectAnswer, expectRefusal } from "../../support/client.js";
import { doubleCredentials, serveWithDouble } from "../../support/oauth/double-server.js";
import { callbackOf, newChallenge, redirectTo, schema } from "../../support/oauth/flow.js";
import { countOf, rowsOf } from "../../support/people.js";
import { serve } from "../../support/server.js";

const { challenge } = newChallenge();
const body = {
  provider: "google",
  redirect_to: redirectTo,
  code_challenge: challenge,
  code_challenge_method: "S256",
};

describe("POST /auth/oauth/authorize", () => {
  it("answers with the provider's URL and how long it is good for", async () => {
    const { provider, server } = await serveWithDouble();
    const answer = await client(server).post("/auth/oauth/authorize", body);
    expectAnswer(answer, 200, { data: { authorization_url: expect.any(String), expires_in: 600 } });
    const url = new URL(dataOf<{ authorization_url: string }>(answer).authorization_url);
    expect(url.origin + url.pathname).toBe(provider.endpoints.authorization);
    const secret = expect.stringMatching(/^[\w-]{43}$/);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: doubleCredentials.client_id,
      redirect_uri: callbackOf("google"),
      response_type: "code",
      scope: "openid email",
      state: secret,
      nonce: secret,
      code_challenge: secret,
      code_challenge_method: "S256",
    });
    // The server's PKCE with the provider is its own.
    expect(url.searchParams.get("code_challenge")).not.toBe(challenge);
  });

  it("stores of the state its hash alone", async () => {
    const { server } = await serveWithDouble();
    const answer = await client(server).post("/auth/oauth/authorize", body);
    const { searchParams } = new URL(dataOf<{ authorization_url: string }>(answer).authorization_url);
    const stored = JSON.stringify(await rowsOf(server, "SELECT * FROM _oauth_states"));
    for (const name of ["state", "nonce", "code_challenge"]) expect(stored).not.toContain(searchParams.get(name));
    expect(stored).toContain(challenge);
  });

  it.each([
    ["a slash more", `${redirectTo}/`],
    ["a slash less", redirectTo.replace("/callback", "callback")],
    ["another case of the path", redirectTo.replace("callback", "Callback")],
    ["another case of the host", redirectTo.replace("app", "App")],
    ["the default port", redirectTo.replace(".com", ".com:443")],
    ["another port", redirectTo.replace(".com", ".com:8443")],
    ["a query", `${redirectTo}?next=/`],
    ["an empty query", `${redirectTo}?`],
    ["a fragment", `${redirectTo}#`],
    ["another scheme", redirectTo.replace("https", "http")],
    ["a user", redirectTo.replace("//", "//app@")],
    ["a host that begins alike", redirectTo.replace(".com", ".com.evil.example")],
    ["a dot segment", redirectTo.replace("/callback", "/x/../callback")],
    ["an escape", redirectTo.replace("callback", "c%61llback")],
    ["a blank", ` ${redirectTo}`],
    ["a line break", `${redirectTo}\n`],
    ["nothing", undefined],
    ["a list", [redirectTo]],
  ])("refuses a redirect URL that differs by %s", async (_, redirect_to) => {
    const { server } = await serveWithDouble();
    const answer = await client(server).post("/auth/oauth/authorize", { ...body, redirect_to });
    expectRefusal(answer, 400, "bad_request");
    expect(await countOf(server, "_oauth_states")).toBe(0);
  });

  it.each([
    ["no challenge", { code_challenge: undefined }],
    ["a short one", { code_challenge: challenge.slice(1) }],
    ["a long one", { code_challenge: `${challenge}A` }],
    ["padding", { code_challenge: `${challenge.slice(1)}=` }],
    ["the other alphabet", { code_challenge: `+/${challenge.slice(2)}` }],
    ["method plain", { code_challenge_method: "plain" }],
    ["no method", { code_challenge_method: undefined }],
    ["an unknown provider", { provider: "facebook" }],
    ["a property of objects", { provider: "__proto__" }],
    ["no provider", { provider: undefined }],
    ["a provider without credentials", { provider: "apple" }],
  ])("refuses %s", async (_, change) => {
    const { server } = await serveWithDouble();
    const answer = await client(server).post("/auth/oauth/authorize", { ...body, ...change });
    expectRefusal(answer, 400, "bad_request");
    expect(await countOf(server, "_oauth_states")).toBe(0);
  });

  it("refuses a provider that has credentials and is not declared", async () => {
    const { server } = await serveWithDouble({
      schema: schema().replace("[google, apple, github]", "[github]"),
    });
    expectRefusal(await client(server).post("/auth/oauth/authorize", body), 400, "bad_request");
  });

  it("takes a custom scheme and loopback HTTP as they are declared", async () => {
    const urls = ["com.example.app:/callback", "http://127.0.0.1:5173/auth"];
    const { server } = await serveWithDouble({
      schema: schema().replace(`"${redirectTo}"`, urls.map((url) => `"${url}"`).join(", ")),
    });
    for (const redirect_to of urls)
      expect((await client(server).post("/auth/oauth/authorize", { ...body, redirect_to })).status).toBe(200);
  });

  it("takes JSON alone, and POST alone", async () => {
    const { server } = await serveWithDouble();
    const form = await client(server).send("POST", "/auth/oauth/authorize", {
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ ...body }).toString(),
    });
    expectRefusal(form, 415, "unsupported_media_type");
    expectRefusal(await client(server).get("/auth/oauth/authorize"), 405, "method_not_allowed");
  });

  it("takes states away that have expired", async () => {
    const { server } = await serveWithDouble();
    const begin = () => client(server).post("/auth/oauth/authorize", body);
    for (let i = 0; i < 5; i++) await begin();
    server.clock.advance(600_000);
    await begin();
    expect(await countOf(server, "_oauth_states")).toBe(1);
  });

  it("sends people to the real providers unless a test says otherwise", async () => {
    const pem = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----";
    const apple = { client_id: "com.example.app", team_id: "T", key_id: "K", private_key_p8: pem };
    const credentials = JSON.stringify(doubleCredentials);
    const server = await serve({
      schema: schema(),
      credentials: { google: credentials, github: credentials, apple: JSON.stringify(apple) },
    });
    const start = async (provider: string) => {
      const answer = await client(server).post("/auth/oauth/authorize", { ...body, provider });
      const url = new URL(dataOf<{ authorization_url: string }>(answer).authorization_url);
      return [url.origin + url.pathname, url.searchParams.get("response_mode")];
    };
    expect(await start("google")).toEqual(["https://accounts.google.com/o/oauth2/v2/auth", null]);
    expect(await start("github")).toEqual(["https://github.com/login/oauth/authorize", null]);
    expect(await start("apple")).toEqual(["https://appleid.apple.com/auth/authorize", "form_post"]);
  });
});
