import { describe, expect, it } from "vitest";
import { adopted, adoptedWith } from "../../support/adopted.js";
import { client, dataOf, expectAnswer, expectRefusal, metaOf, pagesOf } from "../../support/client.js";
import { countOf, rowsOf } from "../../support/people.js";
import { apiKey } from "../../support/server.js";

describe("a table without a primary key", () => {
  const table = "CREATE TABLE readings (at INTEGER, value REAL, note TEXT)";
  const key = "readings";

  it("is listed in rowid order and added to", async () => {
    const { key: caller } = await adopted(
      table,
      "INSERT INTO readings (rowid, at, value, note) VALUES (9, 1, 0.5, 'last'), (3, 2, NULL, 'first')",
    );
    expectAnswer(await caller.get("/api/readings"), 200, {
      data: [
        { at: 2, value: null, note: "first" },
        { at: 1, value: 0.5, note: "last" },
      ],
      meta: { limit: 50, offset: 0, total: 2 },
    });
    expectAnswer(await caller.post(`/api/${key}`, { at: 3, value: 2.5 }), 201, {
      data: { at: 3, value: 2.5, note: null },
    });
    expect((await pagesOf(caller, "/api/readings?limit=1")).map(({ data }) => data[0]!.at)).toEqual([2, 1, 3]);
  });

  it("sorts and pages rows that are equal in everything", async () => {
    const { key: caller } = await adopted(
      table,
      "INSERT INTO readings (at) SELECT 1 FROM (VALUES (1), (2), (3), (4), (5))",
    );
    const pages = await pagesOf(caller, "/api/readings?limit=2&sort=-at,note");
    expect(pages.map(({ data }) => data.length)).toEqual([2, 2, 1]);
  });

  it("has no rows to get, change or delete", async () => {
    const { server, key: caller } = await adopted(table, "INSERT INTO readings VALUES (1, 1.5, 'x')");
    for (const path of ["/api/readings/1", "/api/readings/_svc/key?at=1", "/api/readings/_svc/key?rowid=1"]) {
      expectRefusal(await caller.get(path), 405, "method_not_allowed");
      expectRefusal(await caller.patch(path, { note: "y" }), 405, "method_not_allowed");
      expectRefusal(await caller.delete(path), 405, "method_not_allowed");
    }
    expect(await rowsOf(server, "SELECT * FROM readings")).toEqual([[1, 1.5, "x"]]);
  });

  it("does not show its rowid", async () => {
    const { server, key: caller } = await adopted(table);
    for (const name of ["rowid", "_rowid_", "oid"]) {
      expectRefusal(await caller.get(`/api/readings?sort=${name}`), 400, "bad_request");
      expectRefusal(await caller.get(`/api/readings?select=${name}`), 400, "bad_request");
      expectRefusal(await caller.get(`/api/readings?where[${name}]=1`), 400, "bad_request");
      expectRefusal(await caller.post("/api/readings", { [name]: 5 }), 400, "bad_request");
    }
    expect(await countOf(server, "readings")).toBe(0);
  });
});

describe("a virtual table (FTS5)", () => {
  const tables = [
    "CREATE VIRTUAL TABLE pages USING fts5(title, body)",
    "INSERT INTO pages VALUES ('one', 'apples and pears'), ('two', 'plums'), ('three', 'pears')",
  ];

  it("is listed, filtered, sorted and paged", async () => {
    const { key } = await adopted(...tables);
    const listed = await key.get("/api/pages");
    expect(dataOf(listed)).toEqual([
      { title: "one", body: "apples and pears" },
      { title: "two", body: "plums" },
      { title: "three", body: "pears" },
    ]);
    expect(metaOf(listed)).toEqual({ limit: 50, offset: 0, total: 3 });
    expect(dataOf(await key.get("/api/pages?select=title&filter[body][contains]=pears&sort=title"))).toEqual([
      { title: "one" },
      { title: "three" },
    ]);
    const pages = await pagesOf(key, "/api/pages?limit=1&sort=-title&select=title");
    expect(pages.map(({ data }) => data[0]!.title)).toEqual(["two", "three", "one"]);
  });

  it("is read-only, whoever asks", async () => {
    const { server, key } = await adopted(...tables);
    const before = await rowsOf(server, "SELECT rowid, * FROM pages");
    expectRefusal(await key.post("/api/pages", { title: "x" }), 405, "method_not_allowed");
    for (const path of ["/api/pages/1", "/api/pages/_svc/key?rowid=1"]) {
      expectRefusal(await key.patch(path, { title: "x" }), 405, "method_not_allowed");
      expectRefusal(await key.delete(path), 405, "method_not_allowed");
    }
    const writer = client(server, await apiKey(server, "resource:pages:write"));
    expectRefusal(await writer.post("/api/pages", { title: "x" }), 405, "method_not_allowed");
    expect(await rowsOf(server, "SELECT rowid, * FROM pages")).toEqual(before);
  });

  it("does not show its shadow tables", async () => {
    const { key } = await adopted(...tables);
    for (const shadow of ["pages_data", "pages_idx", "pages_content", "pages_docsize", "pages_config"])
      expectRefusal(await key.get(`/api/${shadow}`), 404, "not_found");
  });
});

describe("a table that is not STRICT", () => {
  it("serves what is there, 64-bit integers kept", async () => {
    const { key } = await adopted(
      "CREATE TABLE Legacy (Id INTEGER PRIMARY KEY, Big INT, Price NUMERIC(10,2), Name VARCHAR(20), Data BLOB)",
      "INSERT INTO Legacy VALUES (1, 9223372036854775807, 1.25, 'é', x'00ff'), (2, -9223372036854775808, 2, NULL, x'')",
    );
    expect(dataOf(await key.get("/api/Legacy"))).toEqual([
      { Id: 1, Big: "9223372036854775807", Price: 1.25, Name: "é", Data: "AP8=" },
      { Id: 2, Big: "-9223372036854775808", Price: 2, Name: null, Data: "" },
    ]);
    expectRefusal(await key.get("/api/legacy"), 404, "not_found");
    expectAnswer(await key.patch("/api/Legacy/2", { Big: 5, Name: "x", Data: "AQ==" }), 200, {
      data: { Id: 2, Big: 5, Price: 2, Name: "x", Data: "AQ==" },
    });
    const pages = await pagesOf(key, "/api/Legacy?limit=1&sort=-Big,Name");
    expect(pages.map(({ data }) => data[0]!.Id)).toEqual([1, 2]);
  });

  it("with a key that is not an integer, is WITHOUT ROWID, or refers to another, works the same", async () => {
    const { server, key } = await adopted(
      "CREATE TABLE codes (code TEXT PRIMARY KEY, label TEXT) WITHOUT ROWID",
      "CREATE TABLE uses (code TEXT REFERENCES codes (code) ON DELETE CASCADE, n INTEGER, PRIMARY KEY (code, n))",
      "INSERT INTO codes VALUES ('b', 'B'), ('a', 'A')",
      "INSERT INTO uses VALUES ('a', 1), ('a', 2), ('b', 1)",
    );
    expect((await pagesOf(key, "/api/codes?limit=1")).map(({ data }) => data[0]!.code)).toEqual(["a", "b"]);
    expect(dataOf(await key.get("/api/uses/_svc/key?code=a&n=2"))).toEqual({ code: "a", n: 2 });
    expectAnswer(await key.delete("/api/codes/a"), 200, { data: { code: "a" } });
    expect(await rowsOf(server, "SELECT * FROM uses")).toEqual([["b", 1]]);
  });
});

describe("a column that goes by a name of the rowid", () => {
  const numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)";
  const all = Array.from({ length: 20 }, (_, i) => `k${String(i + 1).padStart(2, "0")}`);

  it.each([
    ["_rowid_", "id TEXT NOT NULL PRIMARY KEY", "where[owner]=x&limit=3"],
    ["_ROWID_", "id TEXT NOT NULL PRIMARY KEY", "filter[owner][contains]=x&limit=50"],
    ["_rowid_", "id TEXT", "limit=3"],
    ["_rowid_", "id TEXT", "sort=owner&limit=50"],
  ])("is a column (%s beside %s, ?%s)", async (name, id, query) => {
    const { key } = await adoptedWith(
      "usage.enabled = false\napi.scan_limit = 5",
      `CREATE TABLE t (${id}, owner TEXT, "${name}" INTEGER DEFAULT 0) STRICT`,
      "CREATE INDEX o ON t (owner, id)",
      "CREATE INDEX owners ON t (owner)",
      `${numbers} INSERT INTO t (id, owner) SELECT format('k%02d', i), 'x' FROM n`,
    );
    const pages = await pagesOf(key, `/api/t?${query}&select=id`);
    expect(pages.flatMap(({ data }) => data.map((row) => row.id))).toEqual(all);
    expect(pages.at(-1)!.meta.total).toBe(20);
    if (/where|filter/.test(query)) expect(pages[0]!.meta).toMatchObject({ total: 5, truncated: true });
  });
});
