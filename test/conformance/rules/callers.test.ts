import { describe, expect, it } from "vitest";
import { client, dataOf, expectAnswer, expectRefusal } from "../../support/client.js";
import { countOf, member, run } from "../../support/people.js";
import { apiKey, post, serve } from "../../support/server.js";

const schema = `
notes:
  columns:
    id: { type: integer, primary_key: true }
    owner_id: { type: text }
`;

async function notes(rules: string) {
  const server = await serve({ schema, config: `usage.enabled = false\n[rules.notes]\n${rules}` });
  await run(server, "INSERT INTO notes VALUES (1, 'ada'), (2, NULL)");
  return server;
}

const all = (rule: string) =>
  ["read", "create", "update", "delete"].map((action) => `${action} = "${rule}"`).join("\n");
const rowRules = (rule: string) => `
read = "${rule}"
create = "${rule.replaceAll("row", "new")}"
update = "${rule}"
delete = "${rule}"
`;

const operations = (caller: ReturnType<typeof client>) =>
  [
    ["list", () => caller.get("/api/notes")],
    ["get", () => caller.get("/api/notes/1")],
    ["create", () => caller.post("/api/notes", { owner_id: "ada" })],
    ["update", () => caller.patch("/api/notes/1", { owner_id: "x" })],
    ["delete", () => caller.delete("/api/notes/1")],
  ] as const;

describe("without credentials", () => {
  it.each([
    ["deny", all("deny")],
    ["authenticated", all("authenticated")],
    ["an owner", rowRules("row.owner_id = auth.id")],
    ["not the owner", rowRules("not (row.owner_id = auth.id)")],
    ["other than the owner", rowRules("row.owner_id != auth.id")],
    ["an owner that is null", rowRules("auth.id = null or row.owner_id = auth.id")],
    ["an admin", all("auth.role = 'admin'")],
    ["not an admin", all("not (auth.role = 'admin')")],
    ["not a user of that address", all("auth.email != 'x@example.com'")],
    ["someone", all("auth.id is not null")],
    ["a user's row", all("exists($users u where u.id = auth.id and u.role = 'admin')")],
    ["no rule at all", ""],
  ])("%s is 401 for every operation, and nothing changes", async (_, rules) => {
    const server = await notes(rules);
    for (const [, ask] of operations(client(server))) {
      const answer = await ask();
      expectRefusal(answer, 401, "unauthorized");
    }
    expectRefusal(await client(server).get("/api/notes/99"), 401, "unauthorized");
    expect(await countOf(server, "notes")).toBe(2);
  });

  it("public is for everyone", async () => {
    const server = await notes(all("public"));
    const anonymous = client(server);
    expect((await anonymous.get("/api/notes")).status).toBe(200);
    expectAnswer(await anonymous.get("/api/notes/1"), 200, { data: { id: 1, owner_id: "ada" } });
    expectAnswer(await anonymous.post("/api/notes", {}), 201, { data: { id: 3, owner_id: null } });
    expectAnswer(await anonymous.patch("/api/notes/1", { owner_id: "x" }), 200, {
      data: { id: 1, owner_id: "x" },
    });
    expectAnswer(await anonymous.delete("/api/notes/1"), 200, { data: { id: 1 } });
  });

  it("a rule that could hold at another time says no with 403: signing in would not help", async () => {
    const server = await notes(all("now() < 1"));
    for (const [, ask] of operations(client(server))) expectRefusal(await ask(), 403, "forbidden");
    expect(await countOf(server, "notes")).toBe(2);
  });

  it("a rule that some rows admit decides by the row: 403 for the others", async () => {
    const server = await notes(rowRules("row.owner_id is null or row.owner_id = auth.id"));
    const anonymous = client(server);
    expect(dataOf(await anonymous.get("/api/notes"))).toEqual([{ id: 2, owner_id: null }]);
    expectRefusal(await anonymous.get("/api/notes/1"), 403, "forbidden");
    expectRefusal(await anonymous.delete("/api/notes/1"), 403, "forbidden");
    expectRefusal(await anonymous.post("/api/notes", { owner_id: "ada" }), 403, "forbidden");
    expectRefusal(await anonymous.patch("/api/notes/2", { owner_id: "ada" }), 403, "forbidden");
    expect(await countOf(server, "notes")).toBe(2);
  });

  it("a bad credential is 401 even where the public may", async () => {
    const server = await notes(all("public"));
    for (const Authorization of ["Bearer", "Bearer ", "Bearer x", "Basic YTpi", "x", "Bearer svc_sk_x"]) {
      expectRefusal(await client(server, { Authorization }).get("/api/notes"), 401, "unauthorized");
    }
  });
});

describe("a user", () => {
  it.each([
    ["deny", all("deny")],
    ["no rule at all", ""],
    ["admins only", all("auth.role = 'admin'")],
    ["another address", all("auth.email = 'bob@example.com'")],
    ["a rule of another owner", rowRules("row.owner_id = 'bob' and auth.id = 'bob'")],
  ])("is 403 by %s, and nothing changes", async (_, rules) => {
    const server = await notes(rules);
    const ada = client(server, (await member(server, "ada")).bearer);
    for (const [, ask] of operations(ada)) expectRefusal(await ask(), 403, "forbidden");
    expect(await countOf(server, "notes")).toBe(2);
  });

  it("who is admin is admitted as one, and by no rule beyond", async () => {
    const server = await notes("read = \"auth.role = 'admin'\"");
    const root = client(server, (await member(server, "root", "admin")).bearer);
    expect((await root.get("/api/notes")).status).toBe(200);
    expectRefusal(await root.post("/api/notes", {}), 403, "forbidden");
    expectRefusal(await root.delete("/api/notes/1"), 403, "forbidden");
  });
});

describe("a role change", () => {
  it("holds from the next request: the old token is 401, a refreshed one carries the new role", async () => {
    const server = await notes("read = \"auth.role = 'admin'\"");
    const ada = await member(server, "ada");
    expectRefusal(await client(server, ada.bearer).get("/api/notes"), 403, "forbidden");
    await run(server, "UPDATE _users SET role = 'admin' WHERE id = 'ada'");
    expectRefusal(await client(server, ada.bearer).get("/api/notes"), 401, "unauthorized");
    const refreshed = dataOf<{ access_token: string; refresh_token: string; user: object }>(
      await client(server).post("/auth/refresh", { refresh_token: ada.refreshToken }),
    );
    expect(refreshed.user).toEqual({ id: "ada", email: "ada@example.com", role: "admin" });
    const admin = client(server, { Authorization: `Bearer ${refreshed.access_token}` });
    expect((await admin.get("/api/notes")).status).toBe(200);
    await run(server, "UPDATE _users SET role = 'user' WHERE id = 'ada'");
    expectRefusal(await admin.get("/api/notes"), 401, "unauthorized");
    expectRefusal(await admin.get("/auth/me"), 401, "unauthorized");
  });

  it("of another user changes nothing for this one", async () => {
    const server = await notes('read = "authenticated"');
    const ada = client(server, (await member(server, "ada")).bearer);
    await member(server, "bob");
    await run(server, "UPDATE _users SET role = 'admin' WHERE id = 'bob'");
    expect((await ada.get("/api/notes")).status).toBe(200);
  });
});

it("a user who is gone or disabled is nobody from the next request on", async () => {
  const server = await notes('read = "public"');
  const [ada, bob] = [await member(server, "ada"), await member(server, "bob")];
  expect((await client(server, ada.bearer).get("/api/notes")).status).toBe(200);
  await run(server, "UPDATE _users SET disabled = 1 WHERE id = 'ada'");
  await run(server, "DELETE FROM _users WHERE id = 'bob'");
  expectRefusal(await client(server, ada.bearer).get("/api/notes"), 401, "unauthorized");
  expectRefusal(await client(server, bob.bearer).get("/api/notes"), 401, "unauthorized");
  const refreshed = await post(server, "/auth/refresh", { refresh_token: ada.refreshToken });
  expect(refreshed.status).toBe(401);
});

it("an API key is judged by its scopes alone, on public tables too", async () => {
  const server = await notes(all("public"));
  const other = client(server, await apiKey(server, "resource:other:read"));
  for (const [, ask] of operations(other)) expectRefusal(await ask(), 403, "forbidden");
  expect(await countOf(server, "notes")).toBe(2);
});
