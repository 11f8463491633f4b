import { describe, expect, it } from "vitest";
import { openLibsql } from "../../../src/node/database/libsql.js";
import { pullSchema } from "../../../src/schema/pull/pull.js";
import { adopted, adoptedWith } from "../../support/adopted.js";
import { client, dataOf, expectAnswer, expectRefusal, metaOf } from "../../support/client.js";
import { foreignDatabase } from "../../support/foreign-database.js";
import { member, rowsOf, run } from "../../support/people.js";
import { apiKey, inWorkerd, onSqld, serve, skip } from "../../support/server.js";

/** What SQL of the owner's, in the database, may do to a request. */

const notJson = "secret, and no JSON";
const leastInteger = "-9223372036854775808";

describe("SQL of the owner's that cannot be evaluated", () => {
  it("refuses the write that it was to judge, says nothing of what it holds, and harms no reading", async () => {
    const value = "json_extract(meta, '$.v')";
    const columns = "id INTEGER PRIMARY KEY, meta TEXT, n INTEGER";
    const { server, key } = await adoptedWith(
      "",
      `CREATE TABLE checked (${columns}, CHECK (${value} > 0), CHECK (abs(n) >= 0))`,
      `CREATE TABLE stored (${columns}, v AS (${value}) STORED)`,
      `CREATE TABLE computed (${columns})`,
      `INSERT INTO computed (id, meta, n) VALUES (1, 'x', ${leastInteger})`,
      `ALTER TABLE computed ADD COLUMN v AS (${value})`,
      "ALTER TABLE computed ADD COLUMN w AS (abs(n))",
      `CREATE TABLE partial (${columns})`,
      `CREATE INDEX partial_index ON partial (id) WHERE ${value} > 0`,
      `CREATE TABLE indexed (${columns})`,
      `CREATE INDEX indexed_index ON indexed (${value}, abs(n))`,
      `CREATE TABLE watched (${columns})`,
      `CREATE TRIGGER watcher AFTER UPDATE ON watched BEGIN SELECT json_extract(new.meta, '$.v'), abs(new.n); END`,
      `CREATE TRIGGER adder AFTER INSERT ON watched BEGIN SELECT json_extract(new.meta, '$.v'), abs(new.n); END`,
    );
    const tables = ["checked", "stored", "partial", "indexed", "watched"];
    for (const table of tables) {
      expectAnswer(await key.post(`/api/${table}`, { id: 1, meta: '{"v":1}' }), 201, expect.anything());
      const writes = [
        await key.post(`/api/${table}`, { id: 2, meta: notJson }),
        await key.patch(`/api/${table}/1`, { meta: notJson }),
        ...(table === "stored" || table === "partial"
          ? []
          : [
              await key.post(`/api/${table}`, { id: 2, n: leastInteger }),
              await key.patch(`/api/${table}/1`, { n: leastInteger }),
            ]),
      ];
      for (const answer of writes)
        expect(expectRefusal(answer, 400, "bad_request"), table).toBe(
          "SQL of the table, such as a check or a trigger, cannot be evaluated with these values",
        );
      expect(await rowsOf(server, `SELECT id, meta, n FROM ${table}`)).toEqual([[1, '{"v":1}', null]]);
    }
    // What was raised is known to those who run the server alone, and is no failure of theirs.
    expect(server.log.lines).toEqual([]);
    // A column that is computed when it is read is not in the file, and nobody computes it.
    const row = { id: 1, meta: "x", n: leastInteger };
    expect(dataOf(await key.get("/api/computed/1"))).toEqual(row);
    expect(dataOf(await key.get("/api/computed?sort=-meta&where[meta]=x"))).toEqual([row]);
    // A statement that is wrong by itself is the server's failure, whatever SQL the table has.
    await run(server, "ALTER TABLE checked RENAME COLUMN meta TO renamed");
    expectRefusal(await key.post("/api/checked", { id: 2, meta: '{"v":1}', n: 1 }), 500, "internal");
    expect(server.log.lines).toHaveLength(1);
  });
});

const onlyRead = "this table can only be read";

describe("functions and collations of another program", () => {
  it("in triggers make the tables read-only whose writes would call them", async () => {
    const { server, key } = await adopted(
      "CREATE TABLE shelves (id INTEGER PRIMARY KEY, name TEXT)",
      "CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT, shelf INTEGER REFERENCES shelves ON DELETE CASCADE)",
      "INSERT INTO books (id, title) VALUES (1, 'One'), (2, 'Two')",
      "CREATE TRIGGER books_title AFTER UPDATE OF title ON books BEGIN UPDATE books SET title = title_sort(new.title); END",
      "CREATE TRIGGER books_gone AFTER DELETE ON books WHEN old.title = 'x' COLLATE unicase BEGIN SELECT 1; END",
      "CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT)",
      "CREATE TRIGGER notes_seen AFTER INSERT ON notes BEGIN INSERT INTO shelves (name) VALUES (new.body); END",
    );
    const { notes } = await pullSchema(server.database);
    expect(notes.limited).toEqual([
      expect.stringMatching(/^shelves: can only be read here: no such collation sequence: unicase/),
      expect.stringMatching(/^books: can only be read here: no such (function|collation sequence): /),
    ]);
    const books = [
      { id: 1, title: "One", shelf: null },
      { id: 2, title: "Two", shelf: null },
    ];
    expect(dataOf(await key.get("/api/books"))).toEqual(books);
    expect(dataOf(await key.get("/api/books/2"))).toEqual(books[1]);
    for (const table of ["books", "shelves"])
      for (const [answer, allowed] of [
        [await key.post(`/api/${table}`, { id: 3 }), "GET, QUERY"],
        [await key.patch(`/api/${table}/1`, {}), "GET"],
        [await key.delete(`/api/${table}/1`), "GET"],
      ] as const) {
        expect(expectRefusal(answer, 405, "method_not_allowed")).toBe(onlyRead);
        expect(answer.headers.get("Allow")).toBe(allowed);
      }
    // Nothing of the other program is called here.
    expectAnswer(await key.post("/api/notes", { id: 1, body: "x" }), 201, { data: { id: 1, body: "x" } });
    expect(await rowsOf(server, "SELECT id, title FROM books")).toEqual([
      [1, "One"],
      [2, "Two"],
    ]);
    expect(await rowsOf(server, "SELECT name FROM shelves")).toEqual([["x"]]);
    expect(server.log.lines.filter((line) => line.startsWith("shelves: can only be read"))).toHaveLength(1);
    // Once it is gone, the next schema that is loaded serves it all.
    await run(server, "DROP TRIGGER books_title");
    await run(server, "DROP TRIGGER books_gone");
    await run(server, "INSERT INTO _schema SELECT max(version) + 1, hash, text, applied_at FROM _schema");
    expectAnswer(await key.delete("/api/books/2"), 200, { data: { id: 2 } });
  });

  it("in tables limit what the tables are served for, or leave them out", async () => {
    if (inWorkerd || onSqld) skip("a file that is there already is served embedded");
    const path = await foreignDatabase(
      "CREATE TABLE notetypes (id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE, n INTEGER)",
      "CREATE UNIQUE INDEX notetypes_name ON notetypes (name)",
      "INSERT INTO notetypes VALUES (1, 'b', 1), (2, 'A', 0), (3, 'a%', 1)",
      "CREATE TABLE loose (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE)",
      "CREATE TABLE tags (tag TEXT PRIMARY KEY COLLATE NOCASE, usn INTEGER) WITHOUT ROWID",
      "CREATE TABLE words (word TEXT PRIMARY KEY COLLATE NOCASE)",
      "CREATE TABLE numbers (id INTEGER PRIMARY KEY, n INTEGER COLLATE NOCASE)",
      "CREATE TABLE spoken (id INTEGER PRIMARY KEY, word TEXT REFERENCES words)",
      "CREATE TABLE checked (id INTEGER PRIMARY KEY, a TEXT CHECK (LENGTH(a) > 0))",
      "CREATE TABLE indexed (id INTEGER PRIMARY KEY, a TEXT)",
      "CREATE INDEX indexed_a ON indexed (LENGTH(a))",
      "CREATE TABLE partial (id INTEGER PRIMARY KEY, a TEXT)",
      "CREATE INDEX partial_a ON partial (a) WHERE LENGTH(a) > 0",
      "CREATE TABLE computed (id INTEGER PRIMARY KEY, a TEXT, b AS (LENGTH(a)))",
      "CREATE TABLE defaulted (id INTEGER PRIMARY KEY, a TEXT DEFAULT (LENGTH('abc')))",
      "INSERT INTO checked VALUES (1, 'x')",
      "INSERT INTO indexed VALUES (1, 'x')",
      "INSERT INTO partial VALUES (1, 'x')",
      "INSERT INTO computed VALUES (1, 'x')",
      "INSERT INTO defaulted VALUES (1, 'x')",
    );
    const database = openLibsql({ path, synchronous: "normal", commandLine: true });
    const { text, notes } = await pullSchema(database);
    await database.close();
    const collation = "no such collation sequence: unicase";
    const call = "unknown function: their_length()";
    expect(notes.leftOut).toEqual([
      ...["tags", "words", "numbers"].map((table) => `table ${table}: cannot be read here: ${collation}`),
      "table spoken: refers to words, which is left out",
    ]);
    expect(notes.limited).toEqual([
      `notetypes: can only be read here: ${collation}`,
      `notetypes.name: can neither be sorted nor filtered by here: ${collation}`,
      `loose.name: can neither be sorted nor filtered by here: ${collation}`,
      ...["checked", "indexed", "partial", "computed", "defaulted"].map(
        (table) => `${table}: can only be read here: ${call}`,
      ),
    ]);
    expect(text).not.toContain("tags:\n");
    const server = await serve({
      schema: text,
      path,
      config: 'usage.enabled = false\nrules.loose.read = "public"',
    });
    const key = client(server, await apiKey(server, "project:backend"));
    const all = await key.get("/api/notetypes?sort=-n");
    expect(dataOf(all)).toEqual([
      { id: 1, name: "b", n: 1 },
      { id: 3, name: "a%", n: 1 },
      { id: 2, name: "A", n: 0 },
    ]);
    expect(metaOf(all).total).toBe(3);
    expect(dataOf(await key.get("/api/notetypes/2"))).toEqual({ id: 2, name: "A", n: 0 });
    expect(dataOf(await key.get("/api/notetypes?filter[name][starts_with]=a&select=name"))).toEqual([{ name: "a%" }]);
    for (const query of ["sort=name", "sort=n,-name", "where[name]=A", "filter[name][gt]=A", "filter[name][in]=A"])
      for (const table of ["notetypes", "loose"])
        if (table === "notetypes" || !query.includes("n,"))
          expect(expectRefusal(await key.get(`/api/${table}?${query}`), 400, "bad_request")).toContain("name");
    for (const query of ["group=name", "count_distinct=name"])
      expect(expectRefusal(await key.get(`/api/notetypes/_svc/aggregate?${query}`), 400, "bad_request")).toBe(
        `${query.replace("=", ": ")} cannot be compared, as the server lacks its collation`,
      );
    const least = await key.get("/api/notetypes/_svc/aggregate?min=name&max=name&count=name&group=n&sort=-min_name");
    expect(dataOf(least)).toEqual([
      { n: 1, min_name: "a%", max_name: "b", count_name: 2 },
      { n: 0, min_name: "A", max_name: "A", count_name: 1 },
    ]);
    for (const table of ["checked", "indexed", "partial", "computed", "defaulted"]) {
      expect(dataOf(await key.get(`/api/${table}?where[a]=x&sort=a`)), table).toEqual([{ id: 1, a: "x" }]);
      expectRefusal(await key.post(`/api/${table}`, { a: "y" }), 405, "method_not_allowed");
      expectRefusal(await key.patch(`/api/${table}/1`, { a: "y" }), 405, "method_not_allowed");
      expectRefusal(await key.delete(`/api/${table}/1`), 405, "method_not_allowed");
    }
    expectRefusal(await key.get("/api/tags"), 404, "not_found");
    // Nothing compares the column where it is written.
    expectAnswer(await key.post("/api/loose", { id: 1, name: "x" }), 201, { data: { id: 1, name: "x" } });
    expectAnswer(await key.patch("/api/loose/1", { name: "y" }), 200, { data: { id: 1, name: "y" } });
    expect(server.log.lines.filter((line) => line.startsWith("a request failed"))).toEqual([]);
    // A rule cannot be judged by such a column.
    const config = `rules.loose.read = "row.name = 'x'"`;
    const unfit = await serve({ schema: text, path, config });
    expectRefusal(await client(unfit).get("/api/loose"), 503, "unavailable");
    expect(unfit.log.lines.join()).toContain(`rules.loose.read: column name cannot be compared here: ${collation}`);
  });
});

describe("references that lead nowhere", () => {
  it("make the tables read-only whose writes would follow them", async () => {
    const { server, key } = await adopted(
      "CREATE TABLE missing (id INTEGER PRIMARY KEY)",
      "CREATE TABLE k (id INTEGER PRIMARY KEY, p INTEGER REFERENCES missing(id))",
      "INSERT INTO k (id) VALUES (1)",
      "DROP TABLE missing",
      "CREATE TABLE parent (id INTEGER PRIMARY KEY, plain TEXT)",
      "CREATE TABLE child (id INTEGER PRIMARY KEY, p TEXT, q TEXT, FOREIGN KEY (p, q) REFERENCES parent(id, plain))",
      "CREATE TABLE named (a TEXT, b TEXT, PRIMARY KEY (a, b))",
      "CREATE TABLE sound (id INTEGER PRIMARY KEY, a TEXT, b TEXT, FOREIGN KEY (b, a) REFERENCES NAMED (B, A))",
    );
    const { notes } = await pullSchema(server.database);
    expect(notes.limited).toEqual([
      expect.stringMatching(/^k: can only be read here: no such table: main\.missing/),
      expect.stringMatching(/^parent: can only be read here: foreign key mismatch/),
      expect.stringMatching(/^child: can only be read here: foreign key mismatch/),
    ]);
    expect(dataOf(await key.get("/api/k"))).toEqual([{ id: 1, p: null }]);
    for (const table of ["k", "parent", "child"])
      for (const answer of [
        await key.post(`/api/${table}`, { id: 2 }),
        await key.patch(`/api/${table}/1`, { id: 1 }),
        await key.delete(`/api/${table}/1`),
      ])
        expect(expectRefusal(answer, 405, "method_not_allowed")).toBe(onlyRead);
    expectAnswer(await key.post("/api/named", { a: "x", b: "y" }), 201, { data: { a: "x", b: "y" } });
    expectAnswer(await key.post("/api/sound", { id: 1, a: "x", b: "y" }), 201, expect.anything());
    expect(server.log.lines.filter((line) => line.startsWith("a request failed"))).toEqual([]);
  });
});

it("a write that leads on and on is refused, and nothing of it is done", async () => {
  const { server, key } = await adopted(
    "CREATE TABLE links (id INTEGER PRIMARY KEY, above INTEGER REFERENCES links ON DELETE CASCADE)",
    `WITH RECURSIVE chain (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM chain WHERE id < 1500)
     INSERT INTO links SELECT id, nullif(id - 1, 0) FROM chain`,
  );
  const message = expectRefusal(await key.delete("/api/links/1"), 400, "bad_request");
  expect(message).toMatch(/^this leads to too many changes of other rows, /);
  expect(await rowsOf(server, "SELECT count(*) FROM links")).toEqual([[1500]]);
  expect(server.log.lines).toEqual([]);
  expectAnswer(await key.delete("/api/links/1498"), 200, { data: { id: 1498 } });
  expect(await rowsOf(server, "SELECT count(*) FROM links")).toEqual([[1497]]);
  // So that the table can be dropped.
  await run(server, "UPDATE links SET above = NULL");
});

describe("a trigger's RAISE(IGNORE)", () => {
  it("is what a write is told that the rules allow and that is not done", async () => {
    const each = (event: string, row: string) =>
      `CREATE TRIGGER on_${event} BEFORE ${event} ON kept WHEN ${row}.body = 'kept' BEGIN SELECT RAISE(IGNORE); END`;
    const rules = `usage.enabled = false
[rules.kept]
read = "public"
create = "new.owner = auth.id"
update = "row.owner = auth.id"
delete = "row.owner = auth.id or exists(kept k where k.id = row.id and k.owner = auth.id)"
`;
    const { server, key } = await adoptedWith(
      rules,
      "CREATE TABLE kept (id INTEGER PRIMARY KEY, owner TEXT, body TEXT)",
      "INSERT INTO kept VALUES (1, 'ada', 'kept'), (2, 'bob', 'kept'), (3, 'ada', 'free')",
      each("INSERT", "new"),
      each("UPDATE", "old"),
      each("DELETE", "old"),
    );
    const ada = client(server, (await member(server, "ada")).bearer);
    const before = await rowsOf(server, "SELECT * FROM kept");
    for (const answer of [
      await ada.post("/api/kept", { owner: "ada", body: "kept" }),
      await key.post("/api/kept", { owner: "x", body: "kept" }),
      await ada.patch("/api/kept/1", { body: "x" }),
      await key.patch("/api/kept/2", { body: "x" }),
      await ada.delete("/api/kept/1"),
      await key.delete("/api/kept/2"),
    ])
      expect(expectRefusal(answer, 400, "bad_request")).toBe("a trigger of the table ignores this");
    // Where the rules say no, or there is no such row, that is the answer still.
    expectRefusal(await ada.post("/api/kept", { owner: "bob", body: "kept" }), 403, "forbidden");
    expectRefusal(await ada.patch("/api/kept/2", { body: "x" }), 403, "forbidden");
    expectRefusal(await ada.delete("/api/kept/2"), 403, "forbidden");
    expectRefusal(await ada.delete("/api/kept/9"), 404, "not_found");
    expectRefusal(await key.patch("/api/kept/9", { body: "x" }), 404, "not_found");
    expect(await rowsOf(server, "SELECT * FROM kept")).toEqual(before);
    expectAnswer(await ada.delete("/api/kept/3"), 200, { data: { id: 3 } });
  });
});

it("a rename that a view's trigger does not follow is planned as impossible, and nothing is renamed by planning", async () => {
  const { server, key } = await adopted(
    "CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT) STRICT",
    "INSERT INTO a VALUES (1, 'kept')",
    "CREATE VIEW v AS SELECT id, x FROM a",
    "CREATE TRIGGER through INSTEAD OF INSERT ON v BEGIN INSERT INTO a (x) VALUES (new.x); END",
  );
  const { text } = await pullSchema(server.database);
  const plan = (body: string) =>
    key.send("POST", "/admin/api/schema/plan", { headers: { "Content-Type": "application/yaml" }, body });
  const renamed = await plan(text.replace(/x: +\{ type: text \}/, "z: { type: text, renamed_from: x }"));
  expect(dataOf<{ steps: unknown[] }>(renamed).steps).toMatchObject([
    { kind: "rename_column", safe: false, hazards: [{ effect: "impossible" }] },
  ]);
  expect(renamed.text).toContain("trigger through");
  const table = await plan(text.replace("a:\n", "b:\n  renamed_from: a\n"));
  expect(dataOf<{ steps: unknown[] }>(table).steps).toMatchObject([{ kind: "rename_table", safe: true }]);
  expect(dataOf(await key.get("/api/a"))).toEqual([{ id: 1, x: "kept" }]);
});
