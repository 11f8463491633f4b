import { expect, it } from "vitest";
import { client, expectAnswer, expectRefusal } from "../../support/client.js";
import { rowsOf, run } from "../../support/people.js";
import { receiptRows } from "../../support/receipts.js";
import { serve } from "../../support/server.js";

const schema = `
notes:
  columns:
    id:   { type: integer, primary_key: true }
    body: { type: text }
    data: { type: blob }
`;
const config = `[rules.notes]\nread = "public"\ncreate = "public"\nupdate = "public"`;
const megabyte = 1_048_576n;

it("a page of more text than an answer can hold is 400, and fewer columns or a smaller limit help", async () => {
  const server = await serve({ schema, config });
  const fill =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) INSERT INTO notes (body) SELECT hex(zeroblob(?)) FROM n";
  await run(server, fill, BigInt(server.database.answerBytesMax) / 64n);
  const anyone = client(server);
  expectRefusal(await anyone.get("/api/notes"), 400, "bad_request");
  expect((await anyone.get("/api/notes?limit=5")).status).toBe(200);
  expect((await anyone.get("/api/notes?select=id")).body).toMatchObject({ meta: { total: 40 } });
});

it("says so too where the page is read by another index, as the best one leaves too many rows to sort", async () => {
  const server = await serve({ schema, config: `api.scan_limit = 5\n${config}` });
  const fill =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 7) INSERT INTO notes (body) SELECT hex(zeroblob(?)) FROM n";
  await run(server, fill, BigInt(server.database.answerBytesMax) / 8n);
  const refused = await client(server).get("/api/notes?filter[id][in]=1,2,3,4,5,6,7");
  expect(expectRefusal(refused, 400, "bad_request")).toMatch(/^the page is too large/);
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
