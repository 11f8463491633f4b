import { describe, expect, it } from "vitest";
import { client, dataOf } from "../../support/client.js";
import { serveWithDouble } from "../../support/oauth/double-server.js";
import { exchange, schema, signInWith, tokensWith } from "../../support/oauth/flow.js";
import type { OpenIdDouble } from "../../support/oauth/openid-double.js";
import { countOf, rowsOf, run } from "../../support/people.js";
import { post, signUp, signUpAdmin, type TestServer } from "../../support/server.js";

const password = "correct horse battery staple";
const ada = "ada@example.com";

/** The provider vouches for `email` under `sub`, or does not. */
function vouch(provider: OpenIdDouble, sub: string, email: string | null, verified: unknown = true): void {
  provider.forgery = { claims: { sub, email, email_verified: verified } };
}

const errorOf = async (server: TestServer) => (await signInWith(server, "google")).told.get("error");

const identities = (server: TestServer) =>
  rowsOf(server, "SELECT provider, subject, user_id FROM _identities ORDER BY subject");

const login = (server: TestServer) => client(server).post("/auth/login", { email: ada, password });

describe("an address that the provider does not vouch for", () => {
  it.each([
    ["unverified", ada, false],
    ["verified in a word that is none", ada, "yes"],
    ["of unknown standing", ada, null],
    ["missing", null, true],
    ["no address at all", "ada", true],
    ["with a line break", "ada@example.com\nbcc@example.com", true],
  ])("%s: links to nobody and makes nobody", async (_, email, verified) => {
    const { provider, server } = await serveWithDouble();
    vouch(provider, "1", email, verified);
    expect(await errorOf(server)).toBe("email_not_verified");
    const { id } = await signUp(server, ada);
    expect(await errorOf(server)).toBe("email_not_verified");
    await run(server, "UPDATE _users SET email_verified = 1");
    expect(await errorOf(server)).toBe("email_not_verified");
    expect(await rowsOf(server, "SELECT id, password_hash IS NULL FROM _users")).toEqual([[id, 0]]);
    expect(await identities(server)).toEqual([]);
    expect((await login(server)).status).toBe(200);
  });
});

describe("an address that both have verified", () => {
  it("links, without regard to ASCII case, and changes nothing else of the account", async () => {
    const { provider, server } = await serveWithDouble();
    const user = await signUp(server, ada);
    await run(server, "UPDATE _users SET email_verified = 1, role = 'admin'");
    vouch(provider, "1", "ADA@Example.COM");
    const tokens = await tokensWith(server, "google");
    expect(tokens.user).toEqual({ id: user.id, email: ada, role: "admin" });
    expect(await identities(server)).toEqual([["google", "1", user.id]]);
    expect((await login(server)).status).toBe(200);
    const answer = await client(server).post("/auth/refresh", { refresh_token: user.refreshToken });
    expect(answer.status).toBe(200);
  });

  it("never links a letter that only looks like one of ASCII", async () => {
    const { provider, server } = await serveWithDouble();
    await signUp(server, "kim@example.com");
    await run(server, "UPDATE _users SET email_verified = 1");
    vouch(provider, "1", "\u212Aim@example.com");
    expect((await tokensWith(server, "google")).user.email).toBe("\u212Aim@example.com");
    expect(await countOf(server, "_users")).toBe(2);
  });

  it("links also where registration is closed", async () => {
    const { provider, server } = await serveWithDouble({ schema: schema("closed") });
    const admin = await signUpAdmin(server, ada);
    await run(server, "UPDATE _users SET email_verified = 1");
    vouch(provider, "1", ada);
    expect((await tokensWith(server, "google")).user.id).toBe(admin.id);
  });

  it("links another subject of the same address as another identity of the user", async () => {
    const { provider, server } = await serveWithDouble();
    vouch(provider, "1", ada);
    const first = await tokensWith(server, "google");
    vouch(provider, "2", ada, false);
    expect(await errorOf(server)).toBe("email_not_verified");
    vouch(provider, "2", ada);
    expect((await tokensWith(server, "google")).user).toEqual(first.user);
    expect(await identities(server)).toEqual([
      ["google", "1", first.user.id],
      ["google", "2", first.user.id],
    ]);
  });
});

describe("an address that Google has verified once, and does not answer for", () => {
  const elsewhere = (provider: OpenIdDouble, sub: string, email: string) => {
    provider.forgery = { claims: { sub, email, email_verified: true }, without: ["hd"] };
  };

  it.each([0, 1])("links to nobody and takes nobody's account over, with email_verified = %i", async (verified) => {
    const { provider, server } = await serveWithDouble();
    const user = await signUp(server, ada);
    await run(server, "UPDATE _users SET email_verified = ?", BigInt(verified));
    for (const claims of [{}, { hd: "" }, { hd: null }, { hd: true }]) {
      elsewhere(provider, "1", ada);
      if ("hd" in claims) provider.forgery = { claims: { ...provider.forgery.claims, ...claims } };
      expect(await errorOf(server)).toBe("email_not_verified");
    }
    expect(await identities(server)).toEqual([]);
    expect(await rowsOf(server, "SELECT password_hash IS NULL, email_verified FROM _users")).toEqual([[0, verified]]);
    expect((await login(server)).status).toBe(200);
    expect((await client(server, user.bearer).get("/auth/me")).status).toBe(200);
  });

  it("links all the same at gmail.com, which is Google's own", async () => {
    const { provider, server } = await serveWithDouble();
    const user = await signUp(server, "ada@gmail.com");
    await run(server, "UPDATE _users SET email_verified = 1");
    elsewhere(provider, "1", "Ada@GMail.com");
    expect((await tokensWith(server, "google")).user.id).toBe(user.id);
    elsewhere(provider, "2", "ada@gmail.com.example.com");
    expect((await tokensWith(server, "google")).user.id).not.toBe(user.id);
  });

  it("makes a user where nobody has it, who comes back by their identity", async () => {
    const { provider, server } = await serveWithDouble();
    elsewhere(provider, "1", ada);
    const first = await tokensWith(server, "google");
    expect((await tokensWith(server, "google")).user).toEqual(first.user);
    elsewhere(provider, "2", ada);
    expect(await errorOf(server)).toBe("email_not_verified");
    expect(await identities(server)).toEqual([["google", "1", first.user.id]]);
  });
});

describe("an identity", () => {
  it("is the provider and the subject together", async () => {
    const { provider, server } = await serveWithDouble();
    vouch(provider, "1", ada);
    const first = await tokensWith(server, "google");
    await run(server, "UPDATE _identities SET provider = 'github'");
    vouch(provider, "1", "eve@example.com");
    const second = await tokensWith(server, "google");
    expect(second.user.id).not.toBe(first.user.id);
    vouch(provider, "01", "joe@example.com");
    expect((await tokensWith(server, "google")).user.email).toBe("joe@example.com");
    expect(await countOf(server, "_users")).toBe(3);
  });

  it("stays with its user when the address moves to another user's", async () => {
    const { provider, server } = await serveWithDouble();
    vouch(provider, "1", "eve@example.com");
    const eve = await tokensWith(server, "google");
    await signUp(server, ada);
    await run(server, "UPDATE _users SET email_verified = 1");
    vouch(provider, "1", ada);
    expect((await tokensWith(server, "google")).user).toEqual(eve.user);
    expect(await identities(server)).toEqual([["google", "1", eve.user.id]]);
  });

  it("makes no second user of an address that nobody has yet", async () => {
    const { provider, server } = await serveWithDouble();
    vouch(provider, "1", "eve@example.com");
    const eve = await tokensWith(server, "google");
    vouch(provider, "1", ada);
    expect((await tokensWith(server, "google")).user).toEqual(eve.user);
    expect(await countOf(server, "_users")).toBe(1);
  });

  it("leaves an unverified account alone that has the address which it has moved to", async () => {
    const { provider, server } = await serveWithDouble();
    vouch(provider, "1", "eve@example.com");
    const eve = await tokensWith(server, "google");
    await signUp(server, ada);
    vouch(provider, "1", ada);
    expect((await tokensWith(server, "google")).user).toEqual(eve.user);
    expect((await login(server)).status).toBe(200);
  });

  it("goes with its user", async () => {
    const { provider, server } = await serveWithDouble();
    vouch(provider, "1", ada);
    const first = await tokensWith(server, "google");
    await run(server, "DELETE FROM _users");
    expect(await identities(server)).toEqual([]);
    expect((await tokensWith(server, "google")).user.id).not.toBe(first.user.id);
  });

  it("makes one user, however often it comes at once", async () => {
    const { provider, server } = await serveWithDouble();
    vouch(provider, "1", ada);
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => signInWith(server, "google")));
    for (const outcome of outcomes) expect((await exchange(server, outcome)).status).toBe(200);
    expect(await countOf(server, "_users")).toBe(1);
    expect(await countOf(server, "_identities")).toBe(1);
  });
});

describe("an account whose address nobody has verified", () => {
  it("is taken over by whom the provider vouches for: password, sessions and links of old are dead", async () => {
    const { provider, server } = await serveWithDouble();
    const squatter = await signUp(server, ada);
    expect((await login(server)).status).toBe(200);
    await run(
      server,
      `INSERT INTO _links (id, hash, purpose, user_id, password_hash, created_at, expires_at)
      SELECT 'l', 'h', 'email_verification', id, password_hash, 0, 9000000000000 FROM _users`,
    );
    vouch(provider, "1", ada);
    const owner = await tokensWith(server, "google");
    expect(owner.user).toEqual({ id: squatter.id, email: ada, role: "user" });
    expect((await login(server)).status).toBe(401);
    expect((await client(server, squatter.bearer).get("/auth/me")).status).toBe(401);
    const refreshed = await post(server, "/auth/refresh", { refresh_token: squatter.refreshToken });
    expect(refreshed.status).toBe(401);
    expect(await rowsOf(server, "SELECT password_hash, email_verified FROM _users")).toEqual([[null, 1]]);
    expect(await countOf(server, "_links")).toBe(0);
    expect(await countOf(server, "_known_addresses")).toBe(0);
    const bearer = { Authorization: `Bearer ${owner.access_token}` };
    expect((await client(server, bearer).get("/auth/me")).status).toBe(200);
  });

  it("is left alone where it is an administrator's", async () => {
    const { provider, server } = await serveWithDouble();
    const admin = await signUpAdmin(server, ada);
    // As by a promotion of somebody who registered.
    await run(server, "UPDATE _users SET email_verified = 0");
    vouch(provider, "1", ada);
    expect(await errorOf(server)).toBe("email_not_verified");
    expect((await client(server, admin.bearer).get("/auth/me")).status).toBe(200);
    expect((await login(server)).status).toBe(200);
    expect(await identities(server)).toEqual([]);
  });
});

describe("a disabled account", () => {
  it("stays out by its identity", async () => {
    const { provider, server } = await serveWithDouble();
    vouch(provider, "1", ada);
    await tokensWith(server, "google");
    await run(server, "UPDATE _users SET disabled = 1");
    expect(await errorOf(server)).toBe("account_disabled");
    vouch(provider, "1", ada, false);
    expect(await errorOf(server)).toBe("account_disabled");
    expect(await countOf(server, "_oauth_codes")).toBe(1);
  });

  it.each([0, 1])("stays out by its address, and as it was, with email_verified = %i", async (verified) => {
    const { provider, server } = await serveWithDouble();
    await signUp(server, ada);
    await run(server, "UPDATE _users SET disabled = 1, email_verified = ?", BigInt(verified));
    vouch(provider, "1", ada);
    expect(await errorOf(server)).toBe("account_disabled");
    expect(await rowsOf(server, "SELECT password_hash IS NULL, email_verified FROM _users")).toEqual([[0, verified]]);
    expect(await identities(server)).toEqual([]);
  });
});

describe("registration", () => {
  it.each(["invite", "closed"])("%s: a stranger stays out", async (registration) => {
    const { provider, server } = await serveWithDouble({ schema: schema(registration) });
    vouch(provider, "1", ada);
    const { told } = await signInWith(server, "google");
    expect(Object.fromEntries(told)).toEqual({
      error: "registration_closed",
      error_description: "registration is not open to the public",
    });
    expect(await countOf(server, "_users")).toBe(0);
  });

  it.each([
    ["while it lasts", 3_600_000, "admin"],
    ["as a plain user once it has expired", -1, "user"],
  ])("invite: who was invited comes in with the role of the invitation, %s", async (_, lastsMs, role) => {
    const { provider, server } = await serveWithDouble({ schema: schema("invite") });
    await run(
      server,
      "INSERT INTO _users (id, email, email_key, role, created_at) VALUES ('u', ?, ?, 'user', '')",
      ada,
      ada,
    );
    await run(
      server,
      `INSERT INTO _links (id, hash, purpose, user_id, role, created_at, expires_at)
      VALUES ('l', 'h', 'invitation', 'u', 'admin', 0, ?)`,
      BigInt(server.clock.now() + lastsMs),
    );
    vouch(provider, "1", ada);
    expect((await tokensWith(server, "google")).user).toEqual({ id: "u", email: ada, role });
    expect(await countOf(server, "_links")).toBe(0);
  });

  it("makes users of role user, whatever the claims say", async () => {
    const { provider, server } = await serveWithDouble();
    provider.forgery = { claims: { role: "admin", roles: ["admin"], disabled: true } };
    const { user } = await tokensWith(server, "google");
    expect(user.role).toBe("user");
    const me = await signInWith(server, "google").then((outcome) => exchange(server, outcome));
    expect(dataOf<{ user: object }>(me).user).toEqual(user);
  });
});
