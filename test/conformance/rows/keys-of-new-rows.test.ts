import { describe, expect, it } from "vitest";
import { applyChange } from "../../../src/schema/apply.js";
import { pullSchema } from "../../../src/schema/pull/pull.js";
import { client, dataOf, expectAnswer, expectRefusal } from "../../support/client.js";
import { countOf, member, run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

describe("an integer key", () => {
  const columns = "columns: { id: { type: integer, primary_key: true }, n: { type: integer } }";
  const open = (table: string) => `[rules.${table}]\nread = "public"\ncreate = "public"\nupdate = "public"\n`;
  const project = {
    schema: `plain: { ${columns} }\nshown: { ${columns} }\nchosen: { ${columns} }\npaired: { primary_key: [id, n], ${columns.replace(", primary_key: true", "")} }`,
    config: `usage.enabled = false
${open("plain")}${open("shown")}
[rules.shown.columns.id]
read = "public"
${open("chosen")}
[rules.chosen.columns.id]
write = "auth.role = 'admin'"
${open("paired")}`,
  };

  it("is set by no user, unless its column has a write rule", async () => {
    const server = await serve(project);
    const ada = client(server, (await member(server, "ada")).bearer);
    const root = client(server, (await member(server, "root", "admin")).bearer);
    for (const caller of [client(server), ada, root])
      for (const table of ["plain", "shown"])
        for (const id of [5, "9223372036854775807", -1, null])
          expectRefusal(await caller.post(`/api/${table}`, { id, n: 1 }), 403, "forbidden", ["id"]);
    for (const caller of [client(server), ada])
      expectRefusal(await caller.post("/api/chosen", { id: 5 }), 403, "forbidden", ["id"]);
    for (const table of ["plain", "shown", "chosen"]) expect(await countOf(server, table)).toBe(0);
    expectAnswer(await root.post("/api/chosen", { id: 5 }), 201, { data: { id: 5, n: null } });
    expectAnswer(await ada.post("/api/plain", { n: 1 }), 201, { data: { id: 1, n: 1 } });
    // Of several columns, SQLite numbers none.
    expectAnswer(await ada.post("/api/paired", { id: 5, n: 1 }), 201, { data: { id: 5, n: 1 } });
    // Changing one is another matter, and nobody's.
    expectRefusal(await ada.patch("/api/plain/1", { id: 2 }), 400, "bad_request", ["id"]);
  });

  it("is set by keys of the API, within ±(2^53−1)", async () => {
    const server = await serve(project);
    const key = client(server, await apiKey(server, "resource:plain:write"));
    const root = client(server, (await member(server, "root", "admin")).bearer);
    for (const id of ["9223372036854775807", "9007199254740992", "-9007199254740992"]) {
      expectRefusal(await key.post("/api/plain", { id }), 400, "bad_request", ["id"]);
      expectRefusal(await root.post("/api/chosen", { id }), 400, "bad_request", ["id"]);
    }
    for (const id of [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])
      expectAnswer(await key.post("/api/plain", { id }), 201, { data: { id } });
    // There is room left behind it.
    expect((await key.post("/api/plain", { n: 1 })).status).toBe(201);
  });
});

describe("a key that may be NULL, as old tables have them", () => {
  it("is no key of a new row", async () => {
    const config = `
[rules.words]
read = "public"
create = "public"
[rules.pairs]
create = "public"
[rules.counts]
read = "public"
create = "public"
[rules.filled]
create = "public"
[rules.numbered]
create = "public"
[rules.numbered.columns.id]
write = "public"`;
    const server = await serve({
      schema: "first: { columns: { id: { type: integer, primary_key: true } } }",
      config,
    });
    for (const sql of [
      "CREATE TABLE words (id TEXT PRIMARY KEY, n INT)",
      "CREATE TABLE pairs (a TEXT, b INT DEFAULT 3, PRIMARY KEY (a, b))",
      "CREATE TABLE counts (id INT PRIMARY KEY, n INT)",
      "CREATE TABLE filled (id TEXT PRIMARY KEY DEFAULT (lower(hex(randomblob(4)))), n INT)",
      "CREATE TABLE numbered (id INTEGER PRIMARY KEY, n INT)",
    ])
      await run(server, sql);
    const { text } = await pullSchema(server.database);
    await applyChange(server.database, text, { allowDestructive: false, now: 1 });
    const key = client(server, await apiKey(server, "project:backend"));
    for (const caller of [client(server), key]) {
      for (const [table, body, column] of [
        ["words", {}, "id"],
        ["words", { n: 1 }, "id"],
        ["words", { id: null, n: 1 }, "id"],
        ["pairs", { b: 1 }, "a"],
        ["pairs", { a: "x", b: null }, "b"],
        ["counts", { n: 1 }, "id"],
        ["counts", { id: null }, "id"],
        ["filled", { id: null }, "id"],
      ] as const)
        expectRefusal(await caller.post(`/api/${table}`, body), 400, "bad_request", [column]);
    }
    for (const table of ["words", "pairs", "counts", "filled"]) expect(await countOf(server, table)).toBe(0);
    expect(dataOf(await key.post("/api/words", { id: "x" }))).toEqual({ id: "x", n: null });
    expect(dataOf(await key.post("/api/pairs", { a: "x" }))).toEqual({ a: "x", b: 3 });
    expect((await key.post("/api/filled", { n: 1 })).status).toBe(201);
    // SQLite does not number these, so that there is no last number, and users set them.
    const id = "1234567890123456789";
    expect(dataOf(await client(server).post("/api/counts", { id }))).toEqual({ id, n: null });
    for (const body of [{ n: 1 }, { id: null }]) expect((await key.post("/api/numbered", body)).status).toBe(201);
  });

  it("is none either where a default makes it NULL", async () => {
    const tables = ["nulls", "plus", "pair", "ruled", "seen"];
    const config = tables
      .map((table) => `[rules.${table}]\ncreate = "${table === "ruled" ? "new.n = 1" : "public"}"\n`)
      .join("")
      .replace("[rules.seen]", '[rules.seen]\nread = "exists(nulls o where o.id = row.id) or row.n = 1"');
    const server = await serve({
      schema: "first: { columns: { id: { type: integer, primary_key: true } } }",
      config,
    });
    for (const sql of [
      "CREATE TABLE nulls (id TEXT PRIMARY KEY DEFAULT (NULLIF(1,1)), n INT)",
      // No function is called.
      "CREATE TABLE plus (id INT PRIMARY KEY DEFAULT (NULL + 1), n INT)",
      "CREATE TABLE pair (a TEXT, b TEXT DEFAULT (NULLIF(1,1)), n INT, PRIMARY KEY (a, b))",
      "CREATE TABLE ruled (id TEXT PRIMARY KEY DEFAULT (NULLIF(1,1)), n INT)",
      "CREATE TABLE seen (id TEXT PRIMARY KEY DEFAULT (NULLIF(1,1)), n INT)",
    ])
      await run(server, sql);
    const { text } = await pullSchema(server.database);
    await applyChange(server.database, text, { allowDestructive: false, now: 1 });
    for (const caller of [client(server), client(server, await apiKey(server, "project:backend"))])
      for (const table of tables) {
        const body = table === "pair" ? { a: "x", n: 1 } : { n: 1 };
        expectRefusal(await caller.post(`/api/${table}`, body), 400, "bad_request");
        expect(await countOf(server, table), table).toBe(0);
      }
    const key = client(server, await apiKey(server, "project:backend"));
    expect(dataOf(await key.post("/api/nulls", { id: "x" }))).toEqual({ id: "x", n: null });
    expect(dataOf(await key.post("/api/pair", { a: "x", b: "y" }))).toEqual({ a: "x", b: "y", n: null });
  });
});
