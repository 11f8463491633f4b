import { describe, expect, it } from "vitest";
import { makeSetupLink } from "../../../src/auth/links/setup-link.js";
import { client, dataOf, expectAnswer, expectRefusal } from "../../support/client.js";
import { countOf, member, rowsOf } from "../../support/people.js";
import { serve, type TestServer } from "../../support/server.js";
import { cookieOf, ownPage, password, root, type SessionBody, schema, userWith } from "./support.js";

const minutes = 60_000;

async function withLink(config = ""): Promise<{ server: TestServer; token: string }> {
  const server = await serve({ schema, config });
  return { server, token: await tokenOf(server) };
}

async function tokenOf(server: TestServer): Promise<string> {
  const link = await makeSetupLink(server.platform);
  expect(link).toMatch(/^#\/setup\/[\w-]{43}$/);
  return link!.slice("#/setup/".length);
}

const setUp = (server: TestServer, body: object) =>
  client(server, ownPage).post("/admin/api/setup", { ...root, ...body });

const admins = (server: TestServer) => countOf(server, "_users WHERE role = 'admin'");

describe("the setup link", () => {
  it("makes the first administrator, and signs them in", async () => {
    const { server, token } = await withLink();
    const answer = await setUp(server, { token });
    const now = server.clock.now();
    expectAnswer(answer, 201, {
      data: {
        user: { id: expect.stringMatching(/^[\da-f]{32}$/), email: root.email, role: "admin" },
        expires_at: new Date(now + 720 * minutes).toISOString(),
        confirmed_until: new Date(now + 5 * minutes).toISOString(),
      },
    });
    const console = client(server, { ...ownPage, Cookie: cookieOf(answer) });
    const { user } = dataOf<SessionBody>(answer);
    expect(dataOf(await console.get("/admin/api/users"))).toEqual([
      {
        id: user.id,
        email: root.email,
        role: "admin",
        disabled: false,
        email_verified: true,
        created_at: new Date(now).toISOString(),
        created_by: "setup",
      },
    ]);
    expect((await client(server).post("/auth/login", root)).status).toBe(200);
  });

  it("is stored as a hash alone, and goes with its use", async () => {
    const { server, token } = await withLink();
    expect(JSON.stringify(await rowsOf(server, "SELECT * FROM _setup"))).not.toContain(token);
    await setUp(server, { token });
    expect(await countOf(server, "_setup")).toBe(0);
  });

  it("works once", async () => {
    const { server, token } = await withLink();
    expect((await setUp(server, { token })).status).toBe(201);
    const again = await setUp(server, { token, email: "second@example.com" });
    expectRefusal(again, 400, "invalid_token");
    expect(again.headers.getSetCookie()).toEqual([]);
    expect([await countOf(server, "_users"), await countOf(server, "_sessions")]).toEqual([1, 1]);
  });

  it("makes one administrator where twenty use it at once", async () => {
    const { server, token } = await withLink();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => setUp(server, { token, email: `root${i}@example.com` })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(400)]);
    expect([await admins(server), await countOf(server, "_users")]).toEqual([1, 1]);
    expect(answers.flatMap(({ headers }) => headers.getSetCookie())).toHaveLength(1);
  });

  it("works for half an hour, and is then removed", async () => {
    const { server, token } = await withLink();
    server.clock.advance(30 * minutes);
    expectRefusal(await setUp(server, { token }), 400, "invalid_token");
    await server.upkeep.purge();
    expect([await countOf(server, "_setup"), await countOf(server, "_users")]).toEqual([0, 0]);
    const next = await tokenOf(server);
    server.clock.advance(30 * minutes - 1);
    expect((await setUp(server, { token: next })).status).toBe(201);
  });

  it("is void as soon as there is an administrator, who may be disabled", async () => {
    const { server, token } = await withLink();
    await member(server, "ada", "admin");
    expectRefusal(await setUp(server, { token }), 400, "invalid_token");
    expect(await makeSetupLink(server.platform)).toBeNull();
    await server.database.batch([{ sql: "UPDATE _users SET disabled = 1", params: [] }]);
    expectRefusal(await setUp(server, { token }), 400, "invalid_token");
    expect(await makeSetupLink(server.platform)).toBeNull();
    expect(await countOf(server, "_users")).toBe(1);
  });

  it("is void when a newer one was made", async () => {
    const { server, token } = await withLink();
    const next = await tokenOf(server);
    expectRefusal(await setUp(server, { token }), 400, "invalid_token");
    expect((await setUp(server, { token: next })).status).toBe(201);
  });

  it("is none that was made up, and nobody without it makes the server hash a password", async () => {
    const { server } = await withLink();
    const hash = () => Promise.reject(new Error("hashed"));
    Object.assign(server.platform, { passwordHasher: { ...server.platform.passwordHasher, hash } });
    for (const token of ["", "x", "A".repeat(43), "A".repeat(44), "' OR 1=1 --"])
      expectRefusal(await setUp(server, { token }), 400, "invalid_token");
    expect(server.log.lines).toEqual([]);
  });

  it("stays good where address or password are refused", async () => {
    const { server, token } = await withLink("auth.password_min_length = 12");
    await userWith(server, "ada@example.com", "user");
    expectRefusal(await setUp(server, { token, email: "ADA@example.com" }), 409, "conflict");
    expectRefusal(await setUp(server, { token, password: "short" }), 400, "weak_password");
    expectRefusal(await setUp(server, { token, password: root.email }), 400, "weak_password");
    expectRefusal(await setUp(server, { token, email: "root" }), 400, "bad_request");
    expectRefusal(await setUp(server, { token, password: 1 }), 400, "bad_request");
    expectRefusal(await setUp(server, { token: 1 }), 400, "bad_request");
    expect(await admins(server)).toBe(0);
    expect(await rowsOf(server, "SELECT role FROM _users")).toEqual([["user"]]);
    expect((await setUp(server, { token })).status).toBe(201);
    expect((await client(server).post("/auth/login", { email: "ada@example.com", password })).status).toBe(200);
  });
});
