import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { doubleCredentials, serveWithDouble } from "../../support/oauth/double-server.js";
import { atProvider, authorize, deliver, sentBack, signInWith } from "../../support/oauth/flow.js";
import { listen } from "../../support/oauth/loopback.js";
import type { Forgery } from "../../support/oauth/openid-double.js";
import { countOf } from "../../support/people.js";

const second = () => Math.floor(Date.now() / 1000);

describe("what the provider says", () => {
  it("is believed where everything holds, over PKCE of the server's own", async () => {
    const { provider, server } = await serveWithDouble();
    const url = await authorize(server, "google");
    expect(sentBack(await deliver(server, await atProvider(url))).has("code")).toBe(true);
    const [sent] = provider.tokenRequests;
    const challenge = createHash("sha256").update(sent!.get("code_verifier")!).digest("base64url");
    expect(challenge).toBe(url.searchParams.get("code_challenge"));
    expect(sent!.get("client_secret")).toBe(doubleCredentials.client_secret);
    expect(sent!.get("redirect_uri")).toBe(url.searchParams.get("redirect_uri"));
  });

  it.each<[string, string, Forgery]>([
    ["another issuer", '"iss" (issuer) claim value', { claims: { iss: "https://evil.example" } }],
    ["no issuer", '"iss" (issuer) claim missing', { without: ["iss"] }],
    ["another audience", '"aud" (audience) claim value', { claims: { aud: "another client" } }],
    ["no audience", '"aud" (audience) claim missing', { without: ["aud"] }],
    [
      "several audiences without an authorized party",
      "additional untrusted audiences",
      { claims: { aud: ["another client", "the client"] } },
    ],
    [
      "another authorized party",
      '"azp" (authorized party) claim value',
      { claims: { aud: ["x", "the client"], azp: "another client" } },
    ],
    ["another nonce", '"nonce" claim value', { claims: { nonce: "A".repeat(43) } }],
    ["no nonce", '"nonce" (nonce) claim missing', { without: ["nonce"] }],
    ["a foreign signature", "signature verification failed", { foreignKey: true }],
    ["no signature", 'unexpected JWT "alg"', { algorithm: "none" }],
    ["the public key as a secret", 'unexpected JWT "alg"', { algorithm: "HS256" }],
    ["a time that is over", "expiration is past", { claims: { iat: second() - 7200, exp: second() - 3600 } }],
    ["no end", '"exp" (expiration time) claim missing', { without: ["exp"] }],
    ["no subject", '"sub" (subject) claim missing', { without: ["sub"] }],
    ["another issuer of the response (RFC 9207)", '"iss" (issuer) response parameter', { iss: "https://evil.example" }],
    ["an error", "answered 400 invalid_grant", { tokenResponse: { status: 400, body: '{"error":"invalid_grant"}' } }],
    [
      "no ID token",
      '"id_token" property must be a string',
      { tokenResponse: { status: 200, body: '{"access_token":"at","token_type":"Bearer"}' } },
    ],
    ["no JSON", "failed to parse", { tokenResponse: { status: 200, body: "<html>" } }],
    [
      "more than anyone reads",
      "over 262144 bytes",
      { tokenResponse: { status: 200, body: `"${"x".repeat(300_000)}"` } },
    ],
  ])("is refused with %s", async (_, reason, forgery) => {
    const { provider, server } = await serveWithDouble();
    provider.forgery = forgery;
    const { told } = await signInWith(server, "google");
    expect(Object.fromEntries(told)).toEqual({
      error: "provider_error",
      error_description: "the sign-in at the provider failed",
    });
    for (const table of ["_users", "_identities", "_oauth_codes", "_sessions"])
      expect(await countOf(server, table)).toBe(0);
    const log = server.log.lines.join("\n");
    expect(log).toMatch(/^sign-in with google failed: .*$/);
    expect(log).toContain(reason);
    expect(log).not.toMatch(/eyJ|double@example\.com|double-1/);
    expect(log).not.toContain(doubleCredentials.client_secret);
  });

  it("is not fetched from where a redirect leads", async () => {
    let visits = 0;
    const elsewhere = await listen(() => (_, response) => {
      visits++;
      response.end("{}");
    });
    const { provider, server } = await serveWithDouble();
    provider.forgery = { tokenResponse: { status: 307, headers: { Location: elsewhere }, body: "" } };
    expect((await signInWith(server, "google")).told.get("error")).toBe("provider_error");
    expect(visits).toBe(0);
  });

  it("is asked for once: a failure uses the state up", async () => {
    const { provider, server } = await serveWithDouble();
    const back = await atProvider(await authorize(server, "google"));
    provider.forgery = { foreignKey: true };
    expect(sentBack(await deliver(server, back)).get("error")).toBe("provider_error");
    provider.forgery = {};
    expect((await deliver(server, back)).status).toBe(400);
  });

  it("cannot be asked where plain HTTP leaves the machine", async () => {
    const { provider, server } = await serveWithDouble({
      providerEndpoints: {
        google: {
          issuer: "http://provider.example",
          authorization: "http://provider.example/authorize",
          token: "http://provider.example/token",
          jwks: "http://provider.example/jwks",
        },
      },
    });
    const { searchParams } = await authorize(server, "google");
    const parameters = new URLSearchParams({ code: "a code", state: searchParams.get("state")! });
    const told = sentBack(await deliver(server, { method: "GET", provider: "google", parameters }));
    expect(told.get("error")).toBe("provider_error");
    expect(server.log.lines.join()).toContain("only requests to HTTPS are allowed");
    expect(provider.tokenRequests).toEqual([]);
  });
});
