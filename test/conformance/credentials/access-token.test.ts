import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { deriveBytes } from "../../../src/encoding/secret-keys.js";
import { client, expectRefusal } from "../../support/client.js";
import { accessTokenOf, type Forgery, member, rowsOf, run } from "../../support/people.js";
import { serve, testSecret } from "../../support/server.js";

const project = {
  schema: "notes: { columns: { id: { type: integer, primary_key: true } } }",
  config: 'usage.enabled = false\nrules.notes.read = "public"',
};

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Texts of base64url that a lenient decoder takes for the same bytes: their last characters have other unused bits. */
function otherSpellings(text: string): readonly string[] {
  const unused = { 2: 16, 3: 4 }[text.slice(text.lastIndexOf(".") + 1).length % 4] ?? 1;
  const last = alphabet.indexOf(text.at(-1)!);
  return Array.from({ length: unused - 1 }, (_, i) => text.slice(0, -1) + alphabet[last + i + 1]);
}

/** 401 on a route that needs a user, and on one that needs nobody. */
async function expectUnauthorized(server: Awaited<ReturnType<typeof serve>>, Authorization: string) {
  const caller = client(server, { Authorization });
  expectRefusal(await caller.get("/auth/me"), 401, "unauthorized");
  expectRefusal(await caller.get("/api/notes"), 401, "unauthorized");
}

describe("an access token", () => {
  it("as the server signs it is taken", async () => {
    const server = await serve(project);
    await member(server, "ada");
    const caller = client(server, { Authorization: `Bearer ${await accessTokenOf(server, "ada")}` });
    expect((await caller.get("/auth/me")).status).toBe(200);
  });

  it.each<[string, Forgery]>([
    ["with HS512", { algorithm: "HS512" }],
    ["with HS384", { algorithm: "HS384" }],
    ["of an older secret", { secret: "the secret before this one, 32 bytes and more" }],
    ["of another type", { type: "JWT" }],
    ["of an ID token's type", { type: "id+jwt" }],
    ["of another issuer", { issuer: "someone" }],
    ["that expired a second ago", { lifetimeSeconds: -1 }],
    ["that expires this second", { lifetimeSeconds: 0 }],
    ["of another user's session", { claims: { sid: "session of bob" } }],
    ["of no session", { claims: { sid: "nothing" } }],
    ["without a session", { claims: { sid: undefined } }],
    ["of a session that is no text", { claims: { sid: { $ne: null } } }],
    ["that claims another role", { claims: { role: "admin" } }],
    ["that claims another address", { claims: { email: "bob@example.com" } }],
    ["without a role", { claims: { role: undefined } }],
    ["that is not valid yet", { claims: { nbf: 4_102_444_800 } }],
  ])("%s is 401", async (_, forgery) => {
    const server = await serve(project);
    await member(server, "ada");
    await member(server, "bob");
    await expectUnauthorized(server, `Bearer ${await accessTokenOf(server, "ada", forgery)}`);
    expect(server.log.lines).toEqual([]);
  });

  it.each(["none", "None", "NONE", "HS256", "RS256", "ES256", ""])("unsigned, with alg %j, is 401", async (alg) => {
    const server = await serve(project);
    const ada = await member(server, "ada");
    const [, payload, signature] = ada.accessToken.split(".");
    const header = encode({ alg, typ: "at+jwt" });
    for (const forged of [`${header}.${payload}.`, `${header}.${payload}`, `${header}.${payload}.AAAA`])
      await expectUnauthorized(server, `Bearer ${forged}`);
    if (alg !== "HS256") await expectUnauthorized(server, `Bearer ${header}.${payload}.${signature}`);
  });

  it("with anything changed is 401", async () => {
    const server = await serve(project);
    const ada = await member(server, "ada");
    const [header, payload, signature] = ada.accessToken.split(".") as [string, string, string];
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<string, unknown>;
    // From here on its signature is known.
    expect((await client(server, ada.bearer).get("/auth/me")).status).toBe(200);
    for (const forged of [
      `${header}.${encode({ ...claims, sub: "bob" })}.${signature}`,
      `${header}.${encode({ ...claims, exp: 4_102_444_800 })}.${signature}`,
      `${encode({ alg: "HS256", typ: "at+jwt", kid: "x" })}.${payload}.${signature}`,
      `${header}.${payload}.${signature.slice(0, -2)}`,
      `${header}.${payload}.${"A".repeat(signature.length)}`,
      `${header}.${payload}.${signature}.${signature}`,
      ` ${header}.${payload}.${signature} x`,
      `${header}.${payload}.${signature},x`,
      `${header}.${payload}. ${signature}`,
      `${header}.${payload}.${signature.slice(0, 5)}${" ".repeat(50)}${signature.slice(5)}`,
      `${header}.${payload}.${signature.slice(0, 5)}\t${signature.slice(5)}`,
      `${header}.${payload}.${signature}=`,
      "a.b.c",
      "..",
    ])
      await expectUnauthorized(server, `Bearer ${forged}`);
    expect((await client(server, ada.bearer).get("/auth/me")).status).toBe(200);
  });

  it("whose segments are spelled in another way is 401, also where it was taken before", async () => {
    const server = await serve(project);
    const ada = await member(server, "ada");
    expect((await client(server, ada.bearer).get("/auth/me")).status).toBe(200);
    for (const other of otherSpellings(ada.accessToken)) await expectUnauthorized(server, `Bearer ${other}`);
    // Signed as it is spelled.
    const key = await deriveBytes(new TextEncoder().encode(testSecret), "access token");
    const [, payload] = ada.accessToken.split(".") as [string, string];
    const headers = [
      { alg: "HS256", typ: "at+jwt" },
      { alg: "HS256", typ: "at+jwt", x: "" },
    ].map(encode);
    for (const header of headers.flatMap(otherSpellings)) {
      const signature = createHmac("sha256", key).update(`${header}.${payload}`).digest("base64url");
      await expectUnauthorized(server, `Bearer ${header}.${payload}.${signature}`);
    }
    expect((await client(server, ada.bearer).get("/auth/me")).status).toBe(200);
  });

  it.each(["Basic", "Token", "JWT", "Bearer:", "BearerX", "Digest", ""])(
    "under the scheme %j is 401",
    async (scheme) => {
      const server = await serve(project);
      const ada = await member(server, "ada");
      await expectUnauthorized(server, `${scheme} ${ada.accessToken}`.trim());
    },
  );

  it("is taken whatever the case of Bearer", async () => {
    const server = await serve(project);
    const ada = await member(server, "ada");
    for (const scheme of ["Bearer", "bearer", "BEARER"]) {
      const caller = client(server, { Authorization: `${scheme} ${ada.accessToken}` });
      expect((await caller.get("/auth/me")).status).toBe(200);
    }
  });

  it("cannot be a refresh token, nor the other way round", async () => {
    const server = await serve(project);
    const ada = await member(server, "ada");
    await expectUnauthorized(server, `Bearer ${ada.refreshToken}`);
    const refreshed = await client(server).post("/auth/refresh", { refresh_token: ada.accessToken });
    expectRefusal(refreshed, 401, "invalid_refresh_token");
  });

  it("lives until its last second, also where it was taken before", async () => {
    const server = await serve(project);
    const ada = await member(server, "ada");
    const caller = client(server, ada.bearer);
    server.clock.advance(899_000);
    expect((await caller.get("/auth/me")).status).toBe(200);
    server.clock.advance(1000);
    await expectUnauthorized(server, ada.bearer.Authorization);
  });

  it("is in no table of the database", async () => {
    const server = await serve(project);
    const ada = await member(server, "ada");
    await client(server, ada.bearer).get("/auth/me");
    for (const table of ["_users", "_sessions", "_refresh_tokens"])
      expect(JSON.stringify(await rowsOf(server, `SELECT * FROM ${table}`))).not.toContain(ada.accessToken);
  });

  it("of a user whose address has changed is 401", async () => {
    const server = await serve(project);
    const ada = await member(server, "ada");
    await run(server, "UPDATE _users SET email = 'new@example.com', email_key = 'new@example.com'");
    await expectUnauthorized(server, ada.bearer.Authorization);
  });
});
