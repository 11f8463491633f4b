import { describe, expect, it } from "vitest";
import { createServiceKey } from "../../../src/auth/accounts/administration.js";
import { isRefusal } from "../../../src/http/refusal.js";
import { client, dataOf, expectRefusal } from "../../support/client.js";
import { countOf, member, rowsOf } from "../../support/people.js";
import { serve, signUp, type TestServer } from "../../support/server.js";
import { lastToken, verifying } from "../links/support.js";

const schema = "notes: { columns: { id: { type: integer, primary_key: true } } }";
const password = "correct horse battery staple";

type Client = ReturnType<typeof client>;

interface Administration {
  readonly server: TestServer;
  readonly root: Client;
  readonly key: Client;
  readonly keyId: string;
}

async function administration(project = { schema }): Promise<Administration> {
  const server = await serve(project);
  const root = client(server, (await member(server, "root", "admin")).bearer);
  const made = await createServiceKey(server.platform, {
    name: "backend",
    scopes: ["project:backend"],
    expiresAt: null,
    createdBy: "cli",
  });
  if (isRefusal(made)) throw new Error(made.message);
  const key = client(server, { Authorization: `Bearer ${made.secret}` });
  return { server, root, key, keyId: made.id };
}

/** Who made whom, by address. */
async function makers(root: Client): Promise<Record<string, string | null>> {
  const users = dataOf<{ email: string; created_by: string | null }[]>(await root.get("/admin/api/users"));
  return Object.fromEntries(users.map(({ email, created_by }) => [email.split("@")[0], created_by]));
}

describe("created_by", () => {
  it("of a user says who made, imported or invited them, and is null for who has registered", async () => {
    const { server, root, key, keyId } = await administration();
    await root.post("/admin/api/users", { email: "ada@example.com", password, role: "admin" });
    await key.post("/admin/api/users", { email: "bob@example.com", password });
    await key.post("/auth/users/import", { users: [{ id: "cyd", email: "cyd@example.com" }] });
    await key.post("/auth/users/invite", { email: "dee@example.com", role: "admin" });
    await signUp(server, "eve@example.com");
    expect(await makers(root)).toEqual({
      root: null,
      ada: "user:root",
      bob: `key:${keyId}`,
      cyd: `key:${keyId}`,
      dee: `key:${keyId}`,
      eve: null,
    });
    const body = { token: await lastToken(server, "dee@example.com"), password };
    expect((await client(server).post("/auth/invitations/accept", body)).status).toBe(200);
    expect(await makers(root)).toMatchObject({ dee: `key:${keyId}` });
    const listed = await root.get("/admin/api/users?where[created_by]=user:root&select=email");
    expect(dataOf(listed)).toEqual([{ email: "ada@example.com" }]);
  });

  it("of an administrator says who made them one", async () => {
    const { server, root } = await administration();
    const ada = await signUp(server, "ada@example.com");
    const change = (fields: object) => root.patch(`/admin/api/users/${ada.id}`, fields);
    await change({ disabled: true });
    await change({ disabled: false });
    expect(await makers(root)).toMatchObject({ ada: null });
    await change({ role: "admin" });
    expect(await makers(root)).toMatchObject({ ada: "user:root" });
    const second = client(server, (await member(server, "second", "admin")).bearer);
    await second.patch(`/admin/api/users/${ada.id}`, { role: "admin" });
    expect(await makers(root)).toMatchObject({ ada: "user:root" });
    await second.patch(`/admin/api/users/${ada.id}`, { role: "user" });
    await second.patch(`/admin/api/users/${ada.id}`, { role: "admin" });
    expect(await makers(root)).toMatchObject({ ada: "user:second" });
  });

  it("of an unconfirmed registration that is invited becomes the inviter; of a user who is there it stays", async () => {
    const { server, root, key, keyId } = await administration(verifying);
    await client(server).post("/auth/register", { email: "ada@example.com", password });
    expect(await makers(root)).toMatchObject({ ada: null });
    await key.post("/auth/users/invite", { email: "ada@example.com" });
    const confirmed = { email: "there@example.com", password };
    await root.post("/admin/api/users", confirmed);
    await key.post("/auth/users/invite", { email: confirmed.email, role: "admin" });
    expect(await makers(root)).toMatchObject({ ada: `key:${keyId}`, there: "user:root" });
    expect(await rowsOf(server, "SELECT role FROM _users WHERE email_key = 'there@example.com'")).toEqual([["user"]]);
  });

  it("of a key says who made it", async () => {
    const { root, keyId } = await administration();
    const made = await root.post("/admin/api/service-keys", { name: "ci", scopes: ["resource:notes:read"] });
    const { id } = dataOf<{ id: string }>(made);
    const keys = dataOf<object[]>(await root.get("/admin/api/service-keys?select=id,created_by"));
    expect(keys).toHaveLength(2);
    expect(keys).toEqual(
      expect.arrayContaining([
        { id: keyId, created_by: "cli" },
        { id, created_by: "user:root" },
      ]),
    );
  });
});

describe("a key makes no administrators", () => {
  it.each([
    ["POST", "/admin/api/users", { email: "ada@example.com", password, role: "admin" }],
    ["PATCH", "/admin/api/users/bob", { role: "admin" }],
    ["PATCH", "/admin/api/users/bob", { role: "admin", disabled: true }],
    ["PATCH", "/admin/api/users/nobody", { role: "admin" }],
    [
      "POST",
      "/auth/users/import",
      {
        users: [
          { id: "u1", email: "one@example.com" },
          { id: "u2", email: "two@example.com", role: "admin" },
        ],
      },
    ],
  ])("%s %s %j is 403, and changes nothing", async (method, path, body) => {
    const { server, key } = await administration();
    await member(server, "bob");
    const init = { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
    expectRefusal(await key.send(method, path, init), 403, "forbidden");
    expect(await countOf(server, "_users")).toBe(2);
    expect(await rowsOf(server, "SELECT role, disabled FROM _users WHERE id = 'bob'")).toEqual([["user", 0]]);
  });

  it("but changes them otherwise, and makes users", async () => {
    const { server, key } = await administration();
    await member(server, "bob", "admin");
    expect((await key.patch("/admin/api/users/bob", { role: "user" })).status).toBe(200);
    const made = await key.post("/admin/api/users", { email: "ada@example.com", password, role: "user" });
    expect(made.status).toBe(201);
  });
});
