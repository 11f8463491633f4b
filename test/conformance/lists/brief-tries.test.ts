import { beforeEach, expect, it } from "vitest";
import type { Database } from "../../../src/platform/database.js";
import { type Client, client, type ListMeta, metaOf } from "../../support/client.js";
import { member, run } from "../../support/people.js";
import { onSqld, serve, skip, type TestServer } from "../../support/server.js";

/** docs/long-work.md: which pages are tried in the event loop, and of which tables they no longer are */
const schema = `
wide:
  columns: { id: { type: integer, primary_key: true }, body: { type: text } }
other:
  columns: { id: { type: integer, primary_key: true } }
indexed:
  columns: { id: { type: integer, primary_key: true }, body: { type: text } }
  indexes: [{ columns: [body] }]
linked:
  columns:
    id: { type: integer, primary_key: true }
    ${Array.from({ length: 8 }, (_, i) => `n${i}: { type: integer, references: { table: other, column: id } }`).join("\n    ")}
  indexes: [${Array.from({ length: 8 }, (_, i) => `{ columns: [n${i}] }`).join(", ")}]
`;
const config = ["wide", "other", "indexed", "linked"].map((table) => `rules.${table} = { read = "public" }`).join("\n");

let server: TestServer;
let anyone: Client;
/** How each page was asked for since the last look. */
let asked: string[];
/** How long each statement in the event loop takes, in milliseconds of the test's clock. */
let shortMs: number;
/** How long it waits for a processor. */
let stalledMs: number;

const asks = async (path: string, caller = anyone) => {
  asked = [];
  const answer = await caller.get(path);
  expect(answer.status, answer.text).toBe(200);
  return asked;
};

const watched = (database: Database): Database => ({
  foreignKeysStayOn: database.foreignKeysStayOn,
  answerBytesMax: database.answerBytesMax,
  imageBytesMax: database.imageBytesMax,
  statementsMax: database.statementsMax,
  hasReadThread: true,
  query: (statements, long) => {
    if (statements.some(({ sql }) => sql.includes("_page AS MATERIALIZED")))
      asked.push(long === undefined ? "short" : "long");
    if (long === undefined) server?.clock.advance(shortMs);
    if (long === undefined) server?.clock.stall(stalledMs);
    return database.query(statements, long);
  },
  batch: (statements, long) => database.batch(statements, long),
  migrate: (statements, long) => database.migrate(statements, long),
  close: () => database.close(),
});

beforeEach(async () => {
  asked = [];
  shortMs = 0;
  stalledMs = 0;
  server = await serve({ schema, config, wrap: watched });
  anyone = client(server);
  // From here on what takes time is the page alone: the schema is loaded.
  await anyone.get("/api/other");
});

const fill = (table: string, rows: number, bodyBytes: number) =>
  run(
    server,
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO ${table} (id, body) SELECT i, hex(zeroblob(?)) FROM n`,
    BigInt(rows),
    BigInt(bodyBytes / 2),
  );

it("a try that took long is the answer, and for a while no page of its table is tried for its caller", async () => {
  shortMs = 120;
  expect(await asks("/api/wide?limit=1")).toEqual(["short"]);
  shortMs = 0;
  expect(await asks("/api/wide?limit=1")).toEqual(["long"]);
  expect(await asks("/api/wide?limit=2&where[body]=x&sort=-id")).toEqual(["long"]);
  expect(await asks("/api/other?limit=1")).toEqual(["short"]);
  const bob = client(server, (await member(server, "bob")).bearer);
  expect(await asks("/api/wide?limit=1", bob)).toEqual(["short"]);
  // 100 of the 120 ms may be owed, and half a second pays one off.
  server.clock.advance(9_999);
  expect(await asks("/api/wide?limit=1")).toEqual(["long"]);
  server.clock.advance(1);
  expect(await asks("/api/wide?limit=1")).toEqual(["short"]);
});

it("tries of over 10 ms add up, those of other requests too", async () => {
  shortMs = 11;
  for (const limit of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(await asks(`/api/wide?limit=${limit}&sort=${limit % 2 ? "id" : "-id"}`)).toEqual(["short"]);
  expect(await asks("/api/wide?limit=1")).toEqual(["long"]);
});

it("time in which the process waits for a processor does not count", async () => {
  stalledMs = 1_000;
  for (let n = 0; n < 20; n++) expect(await asks("/api/wide?limit=1")).toEqual(["short"]);
});

it("tries of up to 10 ms do not", async () => {
  shortMs = 10;
  for (let n = 0; n < 20; n++) expect(await asks("/api/wide?limit=1")).toEqual(["short"]);
});

it("a page of over 1 MiB is read as long work, and is whole; long values are read after the rows of the page are known", async () => {
  if (onSqld) skip("its answers hold no more than that");
  await fill("wide", 4, 300_000);
  expect(await asks("/api/wide?limit=2")).toEqual(["short"]);
  // A value that is longer than its share of the page ends the first statement.
  expect(await asks("/api/wide?limit=3")).toEqual(["short", "short"]);
  expect(await asks("/api/wide?limit=4")).toEqual(["short", "long"]);
  const { body } = await anyone.get("/api/wide?limit=4");
  const { data, meta } = body as { data: { id: number; body: string }[]; meta: ListMeta };
  expect(data.map((row) => [row.id, row.body.length])).toEqual([
    [1, 300_000],
    [2, 300_000],
    [3, 300_000],
    [4, 300_000],
  ]);
  expect(meta).toMatchObject({ total: 4 });
  expect(meta.next_cursor).toBeUndefined();
});

it("an aggregate of up to 500 candidates is computed in the event loop, one of more as long work", async () => {
  await fill("wide", 500, 2);
  const path = "/api/wide/_svc/aggregate?count=*&group=body";
  expect(await asks(path)).toEqual(["short"]);
  await run(server, "INSERT INTO wide (id, body) VALUES (501, 'x')");
  expect(await asks(path)).toEqual(["short", "long"]);
  expect(await asks(path)).toEqual(["long"]);
  expect(await asks(`${path}&filter[id][lte]=500`)).toEqual(["short"]);
  expect((await anyone.get(path)).body).toMatchObject({
    data: [
      { body: "00", count: 500 },
      { body: "x", count: 1 },
    ],
    meta: { total: 2, rows_read: 501 },
  });
  await run(server, "DELETE FROM wide WHERE id > 100");
  expect(await asks(path)).toEqual(["long"]);
  expect(await asks(path)).toEqual(["short"]);
});

it("a table without an index is counted in the event loop up to 10,000 rows, one with an index up to 99,999", async () => {
  await fill("wide", 10_000, 0);
  expect(await asks("/api/wide?limit=1")).toEqual(["short"]);
  await run(server, "INSERT INTO wide (id) VALUES (10001)");
  expect(await asks("/api/wide?limit=1")).toEqual(["short", "long"]);
  await fill("indexed", 99_999, 0);
  expect(await asks("/api/indexed?limit=1")).toEqual(["short"]);
  await run(server, "INSERT INTO indexed (id) VALUES (100000)");
  expect(await asks("/api/indexed?limit=1")).toEqual(["short", "long"]);
});

it("a list of many ways and many expansions, whose statement takes long to prepare, is not tried", async () => {
  const filters = (count: number) =>
    Array.from({ length: count }, (_, i) => `filter[$or][${i}][n${i}][eq]=1`).join("&");
  const expand = (count: number) => `expand=${Array.from({ length: count }, (_, i) => `n${i}`).join(",")}`;
  expect(await asks(`/api/linked?${filters(8)}`)).toEqual(["short"]);
  expect(await asks(`/api/linked?${expand(8)}`)).toEqual(["short"]);
  expect(await asks(`/api/linked?${filters(5)}&${expand(8)}`)).toEqual(["short"]);
  const many = `/api/linked?${filters(6)}&${expand(8)}`;
  expect(await asks(many)).toEqual(["long"]);
  // Nor is SQLite asked for its plan, which takes as long.
  expect(metaOf(await anyone.get(many)).rows_read).toBeNull();
});
