import { describe, expect, it } from "vitest";
import { type Client, client, expectAnswer, expectRefusal } from "../../support/client.js";
import { countOf, rowsOf, run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

/** docs/reference/auth.md: scopes of API keys. */
const project = {
  schema: `
notes:
  columns:
    id: { type: integer, primary_key: true }
    owner_id: { type: text, not_null: true, default: nobody }
    body: { type: text }
other: { columns: { id: { type: integer, primary_key: true } } }
`,
  config: `
usage.enabled = false
[rules.notes]
read = "public"
create = "public"
update = "public"
delete = "public"
[rules.notes.columns.body]
read = "auth.id is not null"
write = "auth.id is not null"
`,
};

const row = { id: 1, owner_id: "ada", body: "hello" };

async function notes(...scopes: string[]) {
  const server = await serve(project);
  await run(server, "INSERT INTO notes VALUES (1, 'ada', 'hello')");
  return { server, key: client(server, await apiKey(server, ...scopes)) };
}

const reads = (key: Client) => [
  key.get("/api/notes"),
  key.get("/api/notes/1"),
  key.get("/api/notes/_svc/key?id=1"),
  key.get("/api/notes/_svc/aggregate?count=*"),
  key.get("/api/notes/99"),
];
const writes = (key: Client) => [
  key.post("/api/notes", { body: "new" }),
  key.patch("/api/notes/1", { body: "changed" }),
  key.patch("/api/notes/_svc/key?id=1", { body: "changed" }),
  key.delete("/api/notes/1"),
  key.delete("/api/notes/_svc/key?id=1"),
];

async function expectAllForbidden(answers: readonly Promise<Parameters<typeof expectRefusal>[0]>[]) {
  for (const answer of await Promise.all(answers)) expectRefusal(answer, 403, "forbidden");
}

describe("a key that may read", () => {
  it("lists and gets past the rules of rows and columns, and writes nothing", async () => {
    const { server, key } = await notes("resource:notes:read");
    expectAnswer(await key.get("/api/notes"), 200, { data: [row], meta: { limit: 50, offset: 0, total: 1 } });
    expectAnswer(await key.get("/api/notes/1"), 200, { data: row });
    await expectAllForbidden(writes(key));
    expect(await rowsOf(server, "SELECT * FROM notes")).toEqual([[1, "ada", "hello"]]);
  });
});

describe("a key that may write", () => {
  it("gets its result, and can neither list nor get", async () => {
    const { server, key } = await notes("resource:notes:write");
    expectAnswer(await key.post("/api/notes", { body: "new" }), 201, { data: { id: 2, body: "new" } });
    expectAnswer(await key.patch("/api/notes/1", { body: "changed" }), 200, {
      data: { id: 1, body: "changed" },
    });
    await expectAllForbidden(reads(key));
    expectAnswer(await key.delete("/api/notes/1"), 200, { data: { id: 1 } });
    expect(await rowsOf(server, "SELECT * FROM notes")).toEqual([[2, "nobody", "new"]]);
  });

  it("learns nothing of columns that it did not send", async () => {
    const { key } = await notes("resource:notes:write");
    const created = await key.post("/api/notes", {});
    expectAnswer(created, 201, { data: { id: 2 } });
    expectAnswer(await key.patch("/api/notes/1", { body: null }), 200, { data: { id: 1, body: null } });
    expectRefusal(await key.patch("/api/notes/99", { body: "x" }), 404, "not_found");
  });

  it("with both scopes gets the whole row", async () => {
    const { key } = await notes("resource:notes:write", "resource:notes:read");
    expectAnswer(await key.post("/api/notes", {}), 201, { data: { id: 2, owner_id: "nobody", body: null } });
    expectAnswer(await key.get("/api/notes/1"), 200, { data: row });
  });
});

describe("project:backend", () => {
  it("permits every resource, those to come too", async () => {
    const { key } = await notes("project:backend");
    expectAnswer(await key.get("/api/notes/1"), 200, { data: row });
    expectAnswer(await key.post("/api/other", {}), 201, { data: { id: 1 } });
    expectAnswer(await key.delete("/api/other/1"), 200, { data: { id: 1 } });
  });

  it("opens no system table, and is no user", async () => {
    const { key } = await notes("project:backend");
    expectRefusal(await key.get("/api/_service_keys"), 404, "not_found");
    expectRefusal(await key.get("/auth/me"), 403, "forbidden");
  });
});

describe("a key with another scope", () => {
  it.each([
    ["*"],
    ["operations:*"],
    ["operations:notes"],
    ["resource:other:read", "resource:other:write"],
    ["resource:Notes:read", "resource:NOTES:write"],
    ["resource:note:read", "resource:notess:write"],
  ])("%s %s: every operation is 403, and nothing changes", async (...scopes) => {
    const { server, key } = await notes(...scopes);
    await expectAllForbidden([...reads(key), ...writes(key)]);
    expect(await countOf(server, "notes")).toBe(1);
  });

  it.each([
    "resource:*:read",
    "resource:notes:*",
    "resource:notes:READ",
    "resource:notes:readwrite",
    "resource:notes",
    "resource:notes:read:write",
    "resource::notes:read",
    "resource:notes :read",
    " resource:notes:read",
    "project:*",
    "project:backend ",
    "Project:Backend",
    "notes:read",
    "",
  ])("%j, which only a hand in the database can give, permits nothing", async (scope) => {
    const { server, key } = await notes("resource:other:read");
    await run(server, "UPDATE _service_keys SET scopes = ?", JSON.stringify([scope]));
    await expectAllForbidden([...reads(key), ...writes(key)]);
    expect(await countOf(server, "notes")).toBe(1);
  });
});
