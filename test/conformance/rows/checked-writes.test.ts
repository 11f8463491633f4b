import { describe, expect, it } from "vitest";
import type { Database, Statement } from "../../../src/platform/database.js";
import { applyChange } from "../../../src/schema/apply.js";
import { client, expectAnswer, expectRefusal, read } from "../../support/client.js";
import { countOf, member, rowsOf, run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

const notes = "notes: { columns: { id: { type: integer, primary_key: true }, body: { type: text } } }";
const config = `
rules.notes = { read = "authenticated", create = "authenticated", update = "authenticated", columns.id.write = "public" }`;

/** Something that happens elsewhere right before the next call of the server. */
function interposer() {
  const next: { happens: (() => Promise<unknown>) | null } = { happens: null };
  const before =
    <R>(call: (statements: readonly Statement[]) => Promise<R>) =>
    async (statements: readonly Statement[]) => {
      const { happens } = next;
      next.happens = null;
      await happens?.();
      return call(statements);
    };
  const wrap = (database: Database): Database => ({
    foreignKeysStayOn: database.foreignKeysStayOn,
    answerBytesMax: database.answerBytesMax,
    imageBytesMax: database.imageBytesMax,
    statementsMax: database.statementsMax,
    query: before((statements) => database.query(statements)),
    batch: before((statements) => database.batch(statements)),
    migrate: before((statements) => database.migrate(statements)),
    close: () => database.close(),
  });
  return { next, wrap };
}

const renamed = "notes: { columns: { id: { type: integer, primary_key: true }, text: { type: text } } }";

describe("a caller who was known when the last request came", () => {
  it("writes and reads nothing once the session has ended, however late that is", async () => {
    const { next, wrap } = interposer();
    const server = await serve({ schema: notes, config, wrap });
    const ada = client(server, (await member(server, "ada")).bearer);
    expect((await ada.post("/api/notes", { id: 1, body: "one" })).status).toBe(201);
    const end = () => run(server, "UPDATE _sessions SET revoked_at = 1");
    next.happens = end;
    expectRefusal(await ada.post("/api/notes", { id: 2 }), 401, "unauthorized");
    expectRefusal(await ada.patch("/api/notes/1", { body: "two" }), 401, "unauthorized");
    expectRefusal(await ada.get("/api/notes"), 401, "unauthorized");
    expect(await rowsOf(server, "SELECT id, body FROM notes")).toEqual([[1, "one"]]);
  });

  it("is told of nothing else first, where a request asks the database nothing", async () => {
    const server = await serve({ schema: notes, config });
    const ada = client(server, (await member(server, "ada")).bearer);
    expect((await ada.get("/api/notes")).status).toBe(200);
    await run(server, "UPDATE _users SET disabled = 1");
    for (const path of ["/api/notes?limit=x", "/api/nothing", "/api/notes/x"])
      expectRefusal(await ada.get(path), 401, "unauthorized");
    expectRefusal(await ada.post("/api/notes", { unknown: 1 }), 401, "unauthorized");
    expectRefusal(await ada.delete("/api/notes"), 401, "unauthorized");
  });

  it("with a key whose scopes have become fewer or that is revoked, does what the key may do now", async () => {
    const server = await serve({ schema: notes, config });
    const key = client(server, await apiKey(server, "resource:notes:read", "resource:notes:write"));
    expect((await key.post("/api/notes", { id: 1 })).status).toBe(201);
    await run(server, `UPDATE _service_keys SET scopes = '["resource:notes:read"]'`);
    expectRefusal(await key.post("/api/notes", { id: 2 }), 403, "forbidden");
    expect((await key.get("/api/notes")).status).toBe(200);
    await run(server, "UPDATE _service_keys SET revoked_at = created_at");
    expectRefusal(await key.get("/api/notes"), 401, "unauthorized");
    await run(server, "UPDATE _service_keys SET revoked_at = NULL");
    expect((await key.get("/api/notes")).status).toBe(200);
    expect(await countOf(server, "notes")).toBe(1);
  });
});

describe("a body that comes slowly", () => {
  it.each([
    ["PATCH", "/admin/api/users/root", { disabled: false, role: "admin" }],
    ["POST", "/admin/api/service-keys", { name: "k", scopes: ["project:backend"] }],
    ["POST", "/api/notes", { id: 1 }],
  ])("lets nobody do what they are not allowed any more at its end: %s %s", async (method, path, json) => {
    const server = await serve({ schema: notes, config });
    const { bearer } = await member(server, "root", "admin");
    await member(server, "other", "admin");
    expect((await client(server, bearer).get("/api/notes")).status).toBe(200);
    const text = JSON.stringify(json);
    let finish = () => {};
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode(text.slice(0, 5)));
        finish = () => {
          controller.enqueue(new TextEncoder().encode(text.slice(5)));
          controller.close();
        };
      },
    });
    const headers = { ...bearer, "Content-Type": "application/json" };
    const init = { method, headers, body, duplex: "half" } as RequestInit;
    const answered = server.request(path, init);
    await run(server, "UPDATE _users SET disabled = 1 WHERE id = 'root'");
    finish();
    expectRefusal(await read(await answered), 401, "unauthorized");
    expect(await rowsOf(server, "SELECT disabled FROM _users WHERE id = 'root'")).toEqual([[1]]);
    expect(await countOf(server, "_service_keys")).toBe(0);
    expect(await countOf(server, "notes")).toBe(0);
  });
});

describe("an answer that is lost", () => {
  it("is no reason to write again, even if the schema has changed meanwhile", async () => {
    let lose: (() => Promise<unknown>) | null = null;
    let writes = 0;
    const wrap = (database: Database): Database => ({
      foreignKeysStayOn: database.foreignKeysStayOn,
      answerBytesMax: database.answerBytesMax,
      imageBytesMax: database.imageBytesMax,
      statementsMax: database.statementsMax,
      query: (statements) => database.query(statements),
      migrate: (statements) => database.migrate(statements),
      close: () => database.close(),
      batch: async (statements) => {
        const results = await database.batch(statements);
        if (lose === null || !statements.some(({ sql }) => sql.includes('"notes"'))) return results;
        writes++;
        await lose();
        throw new Error("terminated");
      },
    });
    const server = await serve({ schema: notes, config, wrap });
    const ada = client(server, (await member(server, "ada")).bearer);
    expect((await ada.get("/api/notes")).status).toBe(200);
    lose = () => run(server, "INSERT INTO _schema SELECT version + 1, hash, text, applied_at FROM _schema");
    expectRefusal(await ada.post("/api/notes", {}), 500, "internal");
    expect([writes, await countOf(server, "notes")]).toEqual([1, 1]);
  });
});

describe("a schema that changes", () => {
  const change = (database: Database) =>
    applyChange(database, renamed, { allowDestructive: true, now: 0 }).then(({ outcome }) =>
      expect(outcome).toBe("applied"),
    );

  it("is in force for the next request, whose body is read once", async () => {
    const server = await serve({ schema: notes, config });
    const ada = client(server, (await member(server, "ada")).bearer);
    expect((await ada.post("/api/notes", { id: 1, body: "one" })).status).toBe(201);
    await change(server.database);
    expectRefusal(await ada.post("/api/notes", { id: 2, body: "two" }), 400, "bad_request");
    const made = await ada.post("/api/notes", { id: 3, text: "three" });
    expect(made.body).toMatchObject({ data: { id: 3, text: "three" } });
  });

  it("right before a statement made for the old one, which may be no statement any more", async () => {
    const { next, wrap } = interposer();
    const server = await serve({ schema: notes, config, wrap });
    const ada = client(server, (await member(server, "ada")).bearer);
    expect((await ada.get("/api/notes")).status).toBe(200);
    next.happens = () => change(server.database);
    expectRefusal(await ada.post("/api/notes", { id: 1, body: "one" }), 400, "bad_request");
    const listed = await ada.get("/api/notes");
    expectAnswer(listed, 200, { data: [], meta: expect.objectContaining({ total: 0 }) });
    expect(await countOf(server, "notes")).toBe(0);
  });
});
