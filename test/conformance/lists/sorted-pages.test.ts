import { expect, it } from "vitest";
import { applyChange } from "../../../src/schema/apply.js";
import { pullSchema } from "../../../src/schema/pull/pull.js";
import { client, dataOf, metaOf, pagesOf } from "../../support/client.js";
import { run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

/** Tables of all kinds, whose rows are found again by another key each. `n` numbers the rows of each. */
const tables = {
  by_rowid: "CREATE TABLE by_rowid (n INTEGER PRIMARY KEY, a TEXT, body TEXT)",
  by_text: "CREATE TABLE by_text (n INTEGER, a TEXT, body TEXT, id TEXT NOT NULL PRIMARY KEY)",
  by_nothing: "CREATE TABLE by_nothing (n INTEGER, a TEXT, body TEXT)",
  by_pair: "CREATE TABLE by_pair (n INTEGER, a TEXT, body TEXT, g INTEGER NOT NULL, PRIMARY KEY (g, n))",
  packed: "CREATE TABLE packed (n INTEGER, a TEXT, body TEXT, g INTEGER NOT NULL, PRIMARY KEY (g, n)) WITHOUT ROWID",
  nocase:
    "CREATE TABLE nocase (n INTEGER, a TEXT, body TEXT, id TEXT COLLATE NOCASE, PRIMARY KEY (id COLLATE BINARY)) WITHOUT ROWID",
  // No name is left that would mean the rowid.
  hidden:
    "CREATE TABLE hidden (n INTEGER, a TEXT, body TEXT, id INTEGER NOT NULL PRIMARY KEY DESC, _rowid_, rowid, oid)",
  words: "CREATE VIRTUAL TABLE words USING fts5(n UNINDEXED, a, body)",
};

const others: Readonly<Record<string, string>> = {
  by_text: ", 'k' || column1",
  by_pair: ", column1 % 2",
  packed: ", column1 % 2",
  nocase: ", 'k' || column1",
  hidden: ", column1, 0, 0, 0",
};

async function served() {
  const server = await serve({ schema: "first: { columns: { id: { type: integer, primary_key: true } } }" });
  for (const [table, sql] of Object.entries(tables)) {
    await run(server, sql);
    const rows = "(1, 'b'), (2, 'a'), (3, NULL), (4, 'b'), (5, 'c'), (6, NULL), (7, 'a')";
    const body = "column1 || hex(zeroblob(3000))";
    await run(
      server,
      `INSERT INTO ${table} SELECT column1, column2, ${body}${others[table] ?? ""} FROM (VALUES ${rows})`,
    );
  }
  const { text } = await pullSchema(server.database);
  const applied = await applyChange(server.database, text, { allowDestructive: false, now: 1 });
  expect(applied).toMatchObject({ outcome: "applied" });
  return client(server, await apiKey(server, "project:backend"));
}

it.each([
  ["by_rowid", [5, 1, 4, 2, 7, 3, 6]],
  ["by_text", [5, 1, 4, 2, 7, 3, 6]],
  ["by_nothing", [5, 1, 4, 2, 7, 3, 6]],
  ["by_pair", [5, 4, 1, 2, 7, 6, 3]],
  ["packed", [5, 4, 1, 2, 7, 6, 3]],
  ["nocase", [5, 1, 4, 2, 7, 3, 6]],
  ["hidden", [5, 1, 4, 2, 7, 3, 6]],
  ["words", [5, 1, 4, 2, 7, 3, 6]],
])("%s: sorted rows come whole and in order, on each page", async (table, expected) => {
  const key = await served();
  for (const limit of [1, 2, 50]) {
    const pages = await pagesOf(key, `/api/${table}?sort=-a&limit=${limit}`);
    const rows = pages.flatMap(({ data }) => data as { n: number; body: string }[]);
    expect(rows.map(({ n }) => Number(n))).toEqual(expected);
    expect(rows.map(({ body }) => body)).toEqual(expected.map((n) => `${n}${"0".repeat(6000)}`));
    // The candidates twice, and the page's rows, which are looked up again, no third time.
    for (const { meta } of pages) expect(meta).toMatchObject({ total: 7, rows_read: 14 });
  }
  const some = await key.get(`/api/${table}?sort=-a&limit=3&offset=2&select=body,a`);
  expect(dataOf(some)).toEqual(
    expected.slice(2, 5).map((n) => ({ body: `${n}${"0".repeat(6000)}`, a: n === 2 || n === 7 ? "a" : "b" })),
  );
  expect(metaOf(await key.get(`/api/${table}?sort=-a&offset=7`))).toMatchObject({ rows_read: 14 });
});
