import { describe, expect, it } from "vitest";
import { client, expectAnswer, expectRefusal } from "../../support/client.js";
import { countOf, member, run } from "../../support/people.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";

const schema = "notes: { columns: { id: { type: integer, primary_key: true } } }";

async function administration(): Promise<{ server: TestServer; root: ReturnType<typeof client> }> {
  const server = await serve({ schema });
  return { server, root: client(server, (await member(server, "root", "admin")).bearer) };
}

describe("/admin/api", () => {
  it.each([
    ["GET", "/admin/api/users"],
    ["POST", "/admin/api/users"],
    ["PATCH", "/admin/api/users/ada"],
    ["DELETE", "/admin/api/users/ada"],
    ["POST", "/admin/api/users/ada/revoke-sessions"],
    ["POST", "/admin/api/revoke-sessions"],
    ["GET", "/admin/api/service-keys"],
    ["POST", "/admin/api/service-keys"],
    ["DELETE", "/admin/api/service-keys/x"],
    ["POST", "/admin/api/schema/plan"],
    ["POST", "/admin/api/schema/apply"],
  ])("%s %s is for admins and project:backend keys", async (method, path) => {
    const { server } = await administration();
    const ada = await member(server, "ada");
    const init = {
      headers: { "Content-Type": "application/json" },
      ...(method === "GET" ? {} : { body: "{}" }),
    };
    expectRefusal(await client(server).send(method, path, init), 401, "unauthorized");
    expectRefusal(await client(server, ada.bearer).send(method, path, init), 403, "forbidden");
    for (const scope of ["resource:notes:read", "*", "operations:*"]) {
      const key = client(server, await apiKey(server, scope));
      expectRefusal(await key.send(method, path, init), 403, "forbidden");
    }
    expect(await countOf(server, "_users")).toBe(2);
  });
});

describe("users", () => {
  it("are listed with the parameters and cursors of tables, and never with a hash", async () => {
    const { server, root } = await administration();
    for (const id of ["ada", "bob", "cyd"]) await member(server, id);
    const first = await root.get("/admin/api/users?sort=-email&limit=3&select=email,role");
    expect(first.body).toEqual({
      data: [
        { email: "root@example.com", role: "admin" },
        { email: "cyd@example.com", role: "user" },
        { email: "bob@example.com", role: "user" },
      ],
      meta: { limit: 3, offset: 0, total: 4, next_cursor: expect.any(String) },
    });
    const { meta } = first.body as { meta: { next_cursor: string } };
    const second = await root.get(`/admin/api/users?cursor=${meta.next_cursor}`);
    expect(second.body).toMatchObject({ data: [{ email: "ada@example.com", role: "user" }] });
    expectRefusal(await root.get("/admin/api/users?select=password_hash"), 400, "bad_request");
    expect((await root.get("/admin/api/users")).text).not.toContain("password");
  });

  it("are made with any role", async () => {
    const { root } = await administration();
    const made = await root.post("/admin/api/users", {
      email: "New@example.com",
      password: "correct horse",
      role: "admin",
    });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      data: {
        user: {
          id: expect.any(String),
          email: "New@example.com",
          role: "admin",
          disabled: false,
          email_verified: true,
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        },
      },
    });
    const again = { email: "new@example.com", password: "correct horse" };
    expectRefusal(await root.post("/admin/api/users", again), 409, "conflict");
  });

  it("that are disabled are out from the next request, and enabling brings no session back", async () => {
    const { server, root } = await administration();
    const ada = await member(server, "ada");
    const change = async (disabled: boolean) => root.patch(`/admin/api/users/${ada.id}`, { disabled });
    expect((await change(true)).body).toMatchObject({ data: { user: { id: ada.id, disabled: true } } });
    expectRefusal(await client(server, ada.bearer).get("/auth/me"), 401, "unauthorized");
    expect((await change(false)).body).toMatchObject({ data: { user: { disabled: false } } });
    expectRefusal(await client(server, ada.bearer).get("/auth/me"), 401, "unauthorized");
  });

  it("whose sessions are revoked have to sign in again", async () => {
    const { server, root } = await administration();
    const ada = await member(server, "ada");
    const revoke = `/admin/api/users/${ada.id}/revoke-sessions`;
    expect((await root.post(revoke, {})).body).toEqual({ data: { revoked_sessions: 1 } });
    expectRefusal(await client(server, ada.bearer).get("/auth/me"), 401, "unauthorized");
    expect((await root.post(revoke, {})).body).toEqual({ data: { revoked_sessions: 0 } });
  });

  it("have to sign in again, all of them and the admin who did it, where every session is revoked", async () => {
    const { server, root } = await administration();
    const [ada, bob] = [await member(server, "ada"), await member(server, "bob")];
    await run(
      server,
      `INSERT INTO _oauth_codes (hash, user_id, code_challenge, created_at, expires_at)
      VALUES ('code', 'ada', 'challenge', 0, 9000000000000)`,
    );
    const key = client(server, await apiKey(server, "project:backend"));
    expectAnswer(await root.post("/admin/api/revoke-sessions", {}), 200, { data: { revoked_sessions: 3 } });
    for (const { bearer, refreshToken } of [ada, bob]) {
      expectRefusal(await client(server, bearer).get("/auth/me"), 401, "unauthorized");
      const refreshed = await client(server).post("/auth/refresh", { refresh_token: refreshToken });
      expectRefusal(refreshed, 401, "invalid_refresh_token");
    }
    expectRefusal(await root.get("/admin/api/users"), 401, "unauthorized");
    expect(await countOf(server, "_oauth_codes")).toBe(0);
    const cyd = await member(server, "cyd");
    expectAnswer(await key.post("/admin/api/revoke-sessions", {}), 200, { data: { revoked_sessions: 1 } });
    expectRefusal(await client(server, cyd.bearer).get("/auth/me"), 401, "unauthorized");
    expect((await key.get("/admin/api/users")).status).toBe(200);
  });

  it("that are deleted are gone with their sessions", async () => {
    const { server, root } = await administration();
    const ada = await member(server, "ada");
    expect((await root.delete(`/admin/api/users/${ada.id}`)).body).toEqual({ data: { id: ada.id } });
    expect(await countOf(server, "_sessions")).toBe(1);
    expectRefusal(await root.delete(`/admin/api/users/${ada.id}`), 404, "not_found");
  });

  it("stay, with a refusal, where SQL of what refers to them fails", async () => {
    const { server, root } = await administration();
    const ada = await member(server, "ada");
    for (const sql of [
      "CREATE TABLE owned (id INTEGER PRIMARY KEY, owner TEXT REFERENCES _users (id) ON DELETE CASCADE)",
      "CREATE TRIGGER told AFTER DELETE ON owned BEGIN SELECT json_extract('no JSON', '$.a'); END",
      "INSERT INTO owned (owner) VALUES ('ada')",
    ])
      await run(server, sql);
    expectRefusal(await root.delete(`/admin/api/users/${ada.id}`), 409, "conflict");
    expect(await countOf(server, "_users")).toBe(2);
    expect((await client(server, ada.bearer).get("/auth/me")).status).toBe(200);
    await run(server, "DROP TRIGGER told");
    expect((await root.delete(`/admin/api/users/${ada.id}`)).status).toBe(200);
  });

  it.each([
    ["demoted", { role: "user" }],
    ["disabled", { disabled: true }],
  ])("of whom the last enabled admin is one cannot be %s", async (_, change) => {
    const { server, root } = await administration();
    expectRefusal(await root.patch("/admin/api/users/root", change), 409, "conflict");
    expectRefusal(await root.delete("/admin/api/users/root"), 409, "conflict");
    await member(server, "second", "admin");
    expect((await root.patch("/admin/api/users/root", change)).status).toBe(200);
  });

  it.each([{}, { disabled: "yes" }, { role: "owner" }, { email: "x@example.com" }, { disabled: true, colour: "red" }])(
    "refuse the change %j",
    async (change) => {
      const { server, root } = await administration();
      const ada = await member(server, "ada");
      expectRefusal(await root.patch(`/admin/api/users/${ada.id}`, change), 400, "bad_request");
      expect((await client(server, ada.bearer).get("/auth/me")).status).toBe(200);
    },
  );
});

describe("service keys", () => {
  it("are made by an admin, shown once, listed without their secret, and dead when deleted", async () => {
    const { server, root } = await administration();
    const made = await root.post("/admin/api/service-keys", {
      name: "worker",
      scopes: ["resource:notes:read"],
    });
    const { data } = made.body as { data: { id: string; key: string } };
    expect(made.status).toBe(201);
    const notes = client(server, { "X-API-Key": data.key });
    expect((await notes.get("/api/notes")).status).toBe(200);
    const listed = await root.get("/admin/api/service-keys");
    expect(listed.body).toMatchObject({
      data: [{ id: data.id, name: "worker", scopes: ["resource:notes:read"] }],
    });
    expect(listed.text).not.toContain(data.key.slice(7));
    expect((await root.delete(`/admin/api/service-keys/${data.id}`)).status).toBe(200);
    expectRefusal(await notes.get("/api/notes"), 401, "unauthorized");
  });

  it("cannot make keys", async () => {
    const { server } = await administration();
    const key = client(server, await apiKey(server, "project:backend"));
    const body = { name: "more", scopes: ["project:backend"] };
    expectRefusal(await key.post("/admin/api/service-keys", body), 403, "forbidden");
    expect(await countOf(server, "_service_keys")).toBe(1);
  });
});
