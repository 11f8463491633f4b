import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Libsql from "libsql";
import { describe, expect, it } from "vitest";
import { openLibsql } from "../../../src/node/database/libsql.js";
import { pullSchema } from "../../../src/schema/pull/pull.js";
import { client, expectRefusal } from "../../support/client.js";
import { countOf, member, run } from "../../support/people.js";
import { serve, type TestServer } from "../../support/server.js";

/** A database that somebody made elsewhere, pulled and served. */
async function pulled(ddl: string, config: string): Promise<TestServer> {
  const path = join(mkdtempSync(join(tmpdir(), "svc-pulled-")), "data.db");
  const legacy = new Libsql(path);
  legacy.exec(ddl);
  legacy.close();
  const database = openLibsql({ path, synchronous: "normal", commandLine: true });
  const { text } = await pullSchema(database);
  await database.close();
  return serve({ schema: text, config, path });
}

describe("a column that compares without case", () => {
  const ddl = `
    CREATE TABLE p (id INTEGER PRIMARY KEY, vis TEXT COLLATE NOCASE, body TEXT) STRICT;
    INSERT INTO p VALUES (1, 'private', 'secret'), (2, 'open', 'hello')`;

  it("cannot be filtered by in another spelling than the one that the rule knows", async () => {
    const server = await pulled(ddl, `[rules.p]\nread = "row.vis != 'private'"`);
    for (const query of ["", "?where[vis]=PRIVATE", "?filter[vis][in]=PRIVATE"]) {
      const { text } = await client(server).get(`/api/p${query}`);
      expect(text).not.toContain("secret");
    }
  });

  it("is compared without case before it is stored, too", async () => {
    const config = `[rules.p]\nread = "public"\ncreate = "new.vis != 'private'"\nupdate = "new.vis != 'private'"`;
    const server = await pulled(ddl, config);
    for (const vis of ["private", "PRIVATE"]) {
      expectRefusal(await client(server).post("/api/p", { vis }), 403, "forbidden");
      expectRefusal(await client(server).patch("/api/p/2", { vis }), 403, "forbidden");
    }
    expect(await countOf(server, "p")).toBe(2);
  });
});

it("a table's own ON CONFLICT REPLACE or IGNORE deletes and hides nothing", async () => {
  const ddl = `
    CREATE TABLE rep (id INTEGER PRIMARY KEY ON CONFLICT REPLACE, slug TEXT UNIQUE ON CONFLICT REPLACE, owner TEXT);
    CREATE TABLE ign (id INTEGER PRIMARY KEY, slug TEXT UNIQUE ON CONFLICT IGNORE);
    INSERT INTO rep VALUES (1, 'a', 'victim'), (2, 'b', 'ada'); INSERT INTO ign VALUES (1, 'a')`;
  const config = `
[rules.rep]
create = "new.owner = auth.id"
update = "row.owner = auth.id"
columns.id.write = "public"
[rules.ign]
create = "authenticated"`;
  const server = await pulled(ddl, config);
  const ada = client(server, (await member(server, "ada")).bearer);
  expectRefusal(await ada.post("/api/rep", { id: 1, owner: "ada" }), 409, "conflict", ["id"]);
  expectRefusal(await ada.post("/api/rep", { slug: "a", owner: "ada" }), 409, "conflict", ["slug"]);
  expectRefusal(await ada.patch("/api/rep/2", { slug: "a" }), 409, "conflict", ["slug"]);
  expectRefusal(await ada.post("/api/ign", { slug: "a" }), 409, "conflict", ["slug"]);
  expect(await countOf(server, "rep")).toBe(2);
});

it("rows whose key is NULL are paged once each", async () => {
  const ddl = "CREATE TABLE t (id TEXT PRIMARY KEY, n INT); INSERT INTO t VALUES (NULL, 1), (NULL, 2), ('x', 3)";
  const server = await pulled(ddl, `[rules.t]\nread = "public"`);
  const seen: unknown[] = [];
  for (let path: string | undefined = "/api/t?limit=1"; path !== undefined; ) {
    const { data, meta } = (await client(server).get(path)).body as {
      data: { n: number }[];
      meta: { next_cursor?: string };
    };
    seen.push(...data.map(({ n }) => n));
    path = meta.next_cursor && `/api/t?cursor=${meta.next_cursor}`;
  }
  expect(seen).toEqual([1, 2, 3]);
});

it("a write whose triggers feed a virtual table counts its logical rows, or none where they depend on what is stored", async () => {
  const ddl = `
    CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT);
    CREATE VIRTUAL TABLE search USING fts5(body, content='t', content_rowid='id');
    CREATE TRIGGER ai AFTER INSERT ON t BEGIN INSERT INTO search (rowid, body) VALUES (new.id, new.body); END;
    CREATE TRIGGER ad AFTER DELETE ON t WHEN old.body <> '' BEGIN
      INSERT INTO search (search, rowid, body) VALUES ('delete', old.id, old.body); END;
    CREATE TABLE u (id INTEGER PRIMARY KEY, title TEXT, body TEXT);
    CREATE TRIGGER uu AFTER UPDATE OF body ON u BEGIN INSERT INTO search (body) VALUES (new.body); END;
    CREATE VIRTUAL TABLE other USING fts5(body);
    CREATE TABLE v (id INTEGER PRIMARY KEY, body TEXT);
    CREATE TRIGGER vi AFTER INSERT ON v BEGIN INSERT INTO other (rowid, body) VALUES (new.id, new.body); END;
    CREATE TRIGGER vu AFTER UPDATE ON v BEGIN UPDATE other SET body = new.body WHERE rowid = old.id; END;
    CREATE TRIGGER vd AFTER DELETE ON v BEGIN DELETE FROM other WHERE body = old.body; END;
    CREATE TABLE w (id INTEGER PRIMARY KEY, n INTEGER);
    CREATE TRIGGER wu AFTER UPDATE OF n ON w BEGIN UPDATE w SET id = id; END;
    CREATE TABLE plain (id INTEGER PRIMARY KEY, slug TEXT UNIQUE);
    CREATE TRIGGER au AFTER UPDATE ON t BEGIN
      INSERT INTO search (search, rowid, body) VALUES ('delete', old.id, old.body);
      INSERT INTO search (rowid, body) VALUES (new.id, new.body); END`;
  const open = (table: string) =>
    `[rules.${table}]\n${["create", "read", "update", "delete", "columns.id.write"].map((action) => `${action} = "public"\n`).join("")}`;
  const server = await pulled(ddl, ["t", "u", "v", "w", "plain"].map(open).join(""));
  const anyone = client(server);
  const counts = (answer: { body: unknown }, meta: object) => expect(answer.body).toMatchObject({ meta });
  counts(await anyone.post("/api/t", { body: "x" }), { rows_read: 0, rows_written: 2, rows_returned: 1 });
  counts(await anyone.patch("/api/t/1", { body: "y" }), { rows_read: 1, rows_written: 3, rows_returned: 1 });
  await anyone.post("/api/u", { title: "x" });
  // A trigger that may run or not, and whose one row SQLite's count gives away.
  counts(await anyone.patch("/api/u/1", { title: "y" }), { rows_read: 1, rows_written: 1 });
  counts(await anyone.patch("/api/u/1", { body: "y" }), { rows_read: 1, rows_written: 2 });
  counts(await anyone.delete("/api/t/1"), { rows_read: 1, rows_written: 2, rows_returned: 1 });
  await anyone.post("/api/t", { body: "" });
  counts(await anyone.delete("/api/t/1"), { rows_read: 1, rows_written: 1, rows_returned: 1 });
  // A row of one rowid, which is there or not.
  await anyone.post("/api/v", { id: 7, body: "x" });
  counts(await anyone.patch("/api/v/7", { body: "y" }), { rows_read: null, rows_written: 2 });
  await run(server, "DELETE FROM other WHERE rowid = 7");
  counts(await anyone.patch("/api/v/7", { body: "z" }), { rows_read: null, rows_written: 1 });
  counts(await anyone.delete("/api/v/7"), { rows_read: null, rows_written: null });
  // Where no virtual table is reached, SQLite's count is exact.
  await anyone.post("/api/w", { id: 1 });
  await anyone.post("/api/w", { id: 2 });
  counts(await anyone.patch("/api/w/2", { n: 1 }), { rows_read: null, rows_written: 3 });
  // Others' rows of a full-text index that are written at the same time are theirs alone.
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      i % 2 === 0
        ? anyone.post("/api/v", { id: 100 + i, body: "some words to index" })
        : anyone.post("/api/plain", { id: i, slug: `s${i}` }),
    ),
  );
  for (const [i, answer] of answers.entries()) counts(answer, { rows_written: i % 2 === 0 ? 2 : 1 });
});
