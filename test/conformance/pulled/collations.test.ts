import { describe, expect, it } from "vitest";
import { applyChange } from "../../../src/schema/apply.js";
import { pullSchema } from "../../../src/schema/pull/pull.js";
import { type Client, client, dataOf, metaOf, pagesOf } from "../../support/client.js";
import { member, run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

const scanLimit = 5;
const numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12)";

/** Tables of another program, whose keys and indexes compare without case or without trailing blanks. */
async function pulled(): Promise<{ key: Client; ada: Client }> {
  const server = await serve({
    schema: "first: { columns: { id: { type: integer, primary_key: true } } }",
    config: `
[api]
scan_limit = ${scanLimit}
[rules.people]
read = "exists(teams x where x.name = row.team and x.member = auth.id)"
[rules.lots]
read = "row.name != 'k03'"
[rules.plain]
read = "exists(teams x where row.team = x.name)"`,
  });
  for (const sql of [
    "CREATE TABLE lots (name TEXT PRIMARY KEY COLLATE NOCASE NOT NULL, n INT, label TEXT COLLATE RTRIM)",
    "CREATE INDEX labels ON lots (label, name)",
    "CREATE TABLE packed (name TEXT PRIMARY KEY COLLATE NOCASE, n INT) WITHOUT ROWID",
    "CREATE TABLE odd (name TEXT COLLATE NOCASE NOT NULL, n INT, PRIMARY KEY (name COLLATE BINARY))",
    "CREATE TABLE people (id INTEGER PRIMARY KEY, team TEXT COLLATE NOCASE)",
    "CREATE TABLE teams (name TEXT COLLATE NOCASE, member TEXT, PRIMARY KEY (name, member))",
    "CREATE TABLE plain (id INTEGER PRIMARY KEY, team TEXT)",
    // K01, k02, K03, …: by BINARY the odd ones come first.
    `${numbers} INSERT INTO lots SELECT format(iif(i % 2, 'K%02d', 'k%02d'), i), i, format(iif(i % 2, 'l ', 'l')) FROM n`,
    "INSERT INTO packed SELECT name, n FROM lots",
    "INSERT INTO odd VALUES ('b', 1), ('a', 2), ('A', 3), ('B', 4)",
    "INSERT INTO people VALUES (1, 'RED'), (2, 'red'), (3, 'blue')",
    "INSERT INTO teams VALUES ('Red', 'ada'), ('Blue', 'bob')",
    "INSERT INTO plain VALUES (1, 'RED'), (2, 'Red')",
  ])
    await run(server, sql);
  const { text } = await pullSchema(server.database);
  const applied = await applyChange(server.database, text, { allowDestructive: false, now: 1 });
  expect(applied).toMatchObject({ outcome: "applied" });
  return {
    key: client(server, await apiKey(server, "project:backend")),
    ada: client(server, (await member(server, "ada")).bearer),
  };
}

const ordinals = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const ns = (data: readonly Record<string, unknown>[]) => data.map(({ n }) => n);

describe.each(["lots", "packed"])("a key that compares without case (%s)", (table) => {
  it("is listed in its order and paged through windows", async () => {
    const { key } = await pulled();
    for (const [query, expected] of [
      ["limit=2", ordinals(1, 12)],
      ["limit=50", ordinals(1, 12)],
      ["sort=-name&limit=3", ordinals(1, 12).reverse()],
    ] as const) {
      const pages = await pagesOf(key, `/api/${table}?${query}&select=n`);
      expect(pages.flatMap(({ data }) => ns(data))).toEqual(expected);
      expect(pages.at(-1)!.meta.total).toBe(12);
    }
  });

  it("is sought by, whatever the case, and costs the rows that it finds", async () => {
    const { key } = await pulled();
    for (const [filter, expected, read] of [
      ["where[name]=K02", [2], 2],
      ["where[name]=k02", [2], 2],
      ["where[name]=none", [], 0],
      ["filter[name][gt]=k10&sort=name", [11, 12], 4],
      ["filter[name][in]=K02,k02,k01", [1, 2], 4],
    ] as const) {
      const found = await key.get(`/api/${table}?${filter}`);
      expect(ns(dataOf(found) as Record<string, unknown>[]), filter).toEqual(expected);
      expect(metaOf(found), filter).toMatchObject({ total: expected.length, rows_read: read });
    }
    expect(dataOf(await key.get(`/api/${table}/K02`))).toMatchObject({ name: "k02" });
  });
});

it("an index in the column's own collation yields its order", async () => {
  const { key } = await pulled();
  const pages = await pagesOf(key, "/api/lots?sort=label&limit=4&select=n,label");
  // The blanks at the end make no difference.
  expect(pages.flatMap(({ data }) => ns(data))).toEqual(ordinals(1, 12));
  expect(pages[0]!.data[0]).toEqual({ n: 1, label: "l " });
  expect(metaOf(await key.get("/api/lots?where[label]=l&limit=2"))).toMatchObject({ total: 5 });
});

it("rows whose keys their column holds for equal are paged once each", async () => {
  const { key } = await pulled();
  const pages = await pagesOf(key, "/api/odd?limit=1");
  expect(pages.flatMap(({ data }) => ns(data))).toEqual([2, 3, 1, 4]);
});

it("a rule that compares without case is served by such an index, and one that does not is not", async () => {
  const { ada } = await pulled();
  const people = await ada.get("/api/people");
  expect(dataOf(people)).toMatchObject([{ id: 1 }, { id: 2 }]);
  // Three rows, and a membership for two of them, twice.
  expect(metaOf(people)).toMatchObject({ rows_read: 10 });
  // The left side decides: by BINARY only one of them is there.
  const plain = await ada.get("/api/plain");
  expect(dataOf(plain)).toMatchObject([{ id: 2 }]);
  expect(metaOf(plain)).toMatchObject({ rows_read: null });
  const lots = await pagesOf(ada, "/api/lots?select=n&limit=50");
  expect(lots.flatMap(({ data }) => ns(data))).toEqual(ordinals(1, 12).filter((n) => n !== 3));
});
