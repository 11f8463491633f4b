import { describe, expect, it } from "vitest";
import { client, expectAnswer, expectRefusal, type ListMeta } from "../../support/client.js";
import { rowsOf, run } from "../../support/people.js";
import { receiptRows } from "../../support/receipts.js";
import { serve, type TestServer } from "../../support/server.js";

const schema = `
notes:
  columns:
    id:   { type: integer, primary_key: true }
    body: { type: text }
    data: { type: blob }
`;
const config = `[rules.notes]\nread = "public"\ncreate = "public"\nupdate = "public"`;
const megabyte = 1_048_576n;

/** How many rows each page has, from the first to the last; the rows of all pages have to be these. */
async function pageSizes(server: TestServer, path: string, ids: readonly number[]): Promise<readonly number[]> {
  const pages: number[][] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const { body } = await client(server).get(next);
    const { data, meta } = body as { data: { id: number }[]; meta: ListMeta };
    pages.push(data.map(({ id }) => id));
    expect(meta.total).toBe(ids.length);
    next = meta.next_cursor && `/api/notes?cursor=${meta.next_cursor}`;
  }
  expect(pages.flat()).toEqual(ids);
  return pages.map(({ length }) => length);
}

const fill = (rows: number) =>
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows}) INSERT INTO notes (body) SELECT hex(zeroblob(?)) FROM n`;
const ids = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

describe("a page ends before the row with which it would have more than api.max_page_bytes", () => {
  it.each(["/api/notes?limit=20", "/api/notes?limit=20&sort=body"])("%s", async (path) => {
    const server = await serve({ schema, config: `api.max_page_bytes = 100_000\n${config}` });
    await run(server, fill(12), 10_000n);
    expect(await pageSizes(server, path, ids(12))).toEqual([5, 5, 2]);
    expect(await pageSizes(server, "/api/notes?limit=4", ids(12))).toEqual([4, 4, 4]);
  });

  it("also with an offset, and in windows of few rows", async () => {
    const server = await serve({ schema, config: `api.max_page_bytes = 50_000\n${config}` });
    await run(server, fill(7), 10_000n);
    const { body } = await client(server).get("/api/notes?limit=5&offset=3");
    expect(body).toMatchObject({ data: [{ id: 4 }, { id: 5 }], meta: { limit: 5, offset: 3, total: 7 } });
    const small = await serve({ schema, config: `api.max_page_bytes = 50_000\napi.scan_limit = 3\n${config}` });
    await run(small, fill(7), 10_000n);
    expect(await pageSizes(small, "/api/notes?limit=5", ids(7))).toEqual([2, 2, 2, 1]);
  });

  it("and has at least one row, also where that is larger than a page", async () => {
    const server = await serve({ schema, config: `api.max_page_bytes = 100\n${config}` });
    await run(server, fill(3), 10_000n);
    expect(await pageSizes(server, "/api/notes", ids(3))).toEqual([1, 1, 1]);
    await run(server, "UPDATE notes SET body = NULL");
    expect(await pageSizes(server, "/api/notes", ids(3))).toEqual([3]);
  });

  it("and where the database can return no more at once", async () => {
    const server = await serve({ schema, config });
    await run(server, fill(40), BigInt(server.database.answerBytesMax) / 64n);
    const sizes = await pageSizes(server, "/api/notes", ids(40));
    expect(sizes.length).toBeGreaterThan(1);
    expect((await client(server).get("/api/notes?select=id")).body).toMatchObject({ meta: { total: 40 } });
  });

  it("also where the page is read by another index, as the best one leaves too many rows to sort", async () => {
    const server = await serve({ schema, config: `api.scan_limit = 5\napi.max_page_bytes = 50_000\n${config}` });
    await run(server, fill(7), 10_000n);
    const { body } = await client(server).get("/api/notes?filter[id][in]=1,2,3,4,5,6,7");
    expect(body).toMatchObject({ data: [{ id: 1 }, { id: 2 }] });
  });
});

it("a row that is larger than a page is found by its key, and comes alone in a list", async () => {
  const server = await serve({ schema, config });
  const bytes = Math.min(server.database.answerBytesMax, 6_000_000) - 1_000;
  const rows = "INSERT INTO notes (id, body) VALUES (1, hex(zeroblob(?))), (2, hex(zeroblob(1000)))";
  await run(server, rows, BigInt(bytes / 2));
  const caller = client(server);
  for (const path of ["/api/notes/1", "/api/notes?limit=1&select=id,body,data"]) {
    const { data, meta } = (await caller.get(path)).body as { data: unknown; meta: object };
    const { id, body } = (Array.isArray(data) ? data[0] : data) as { id: number; body: string };
    expect([id, body.length, /^0+$/.test(body)], path).toEqual([1, bytes, true]);
    expect(meta, path).toMatchObject({ rows_returned: 1 });
  }
  expect(await pageSizes(server, "/api/notes?limit=2", [1, 2])).toEqual([1, 1]);
  // The row is counted once, though it may be looked for twice.
  expect((await caller.get("/api/notes/1")).body).toMatchObject({ meta: { rows_read: 1 } });
});

it("a row that no answer can hold is 400, and a write to it answers with its key", async () => {
  const server = await serve({ schema, config });
  await run(
    server,
    "INSERT INTO notes (id, data) VALUES (1, zeroblob(?))",
    BigInt(server.database.answerBytesMax) + 1n,
  );
  expectRefusal(await client(server).get("/api/notes/1"), 400, "bad_request");
  const changed = await client(server).patch("/api/notes/1", { body: "x" });
  expect(changed.body).toMatchObject({ data: { id: 1 } });
  expect(changed.text.length).toBeLessThan(1000);
});

it("a long text is not looked for in more text than can be searched in reasonable time", async () => {
  const server = await serve({ schema, config });
  const fill =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) INSERT INTO notes (body) SELECT replace(hex(zeroblob(?)), '0', 'a') FROM n";
  await run(server, fill, megabyte / 2n);
  const needle = `${"a".repeat(20_000)}b`;
  const refused = await client(server).get(`/api/notes?filter[body][contains]=${needle}&select=id`);
  expect(expectRefusal(refused, 400, "bad_request")).toBe(
    "body: too much text to search: a filter that an index serves or a shorter text would help",
  );
  const short = await client(server).get(`/api/notes?filter[body][contains]=aaab&select=id`);
  expect(short.body).toMatchObject({ data: [], meta: { total: 0 } });
  const few = await client(server).get(`/api/notes?filter[body][contains]=${needle}&filter[id][lt]=2&select=id`);
  expect(few.body).toMatchObject({ data: [], meta: { total: 0 } });
});

it("a word is looked for in up to 262 MB of text, and what was measured is metered", async () => {
  const server = await serve({ schema, config });
  const anyone = client(server);
  const numbers = (count: number) =>
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
  await run(server, `${numbers(131)} INSERT INTO notes (body) SELECT hex(zeroblob(500000)) FROM n`);
  await run(server, "INSERT INTO notes (body) SELECT body FROM notes");
  // 262,000,000 bytes, each 305 for a text of five bytes, are 79,910,000,000.
  const found = await anyone.get("/api/notes?filter[body][contains]=zebra&select=id");
  expectAnswer(found, 200, { data: [], meta: expect.objectContaining({ total: 0, rows_read: 786 }) });
  // 1,000,000 more are too many, also where the row before them ends the first page, and for an order without an index.
  await run(server, "INSERT INTO notes (body) SELECT hex(zeroblob(500000))");
  for (const query of ["select=id", "select=id&limit=1", "select=id&sort=body"]) {
    server.clock.advance(1);
    const refused = await anyone.get(`/api/notes?filter[body][contains]=zebra&${query}`);
    expect(expectRefusal(refused, 400, "bad_request")).toMatch(/^body: too much text to search/);
    const sql = `SELECT rows_read FROM ${receiptRows} WHERE at = ?`;
    expect(await rowsOf(server, sql, BigInt(server.clock.now()))).toEqual([[263]]);
  }
  const two = await anyone.get("/api/notes?filter[body][contains]=ze&select=id&limit=1");
  expect(two.body).toMatchObject({ data: [], meta: { total: 0 } });
});

it("a cursor that no header line could carry is not handed out", async () => {
  const server = await serve({ schema, config });
  await run(server, "INSERT INTO notes (body) VALUES (?), ('z')", "a".repeat(200_000));
  expectRefusal(await client(server).get("/api/notes?sort=body&limit=1&select=id"), 400, "bad_request", ["body"]);
});
