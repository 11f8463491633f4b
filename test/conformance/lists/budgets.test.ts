import { expect, it } from "vitest";
import { client, expectRefusal } from "../../support/client.js";
import { run } from "../../support/people.js";
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
  expectRefusal(refused, 400, "bad_request");
  const short = await client(server).get(`/api/notes?filter[body][contains]=aaab&select=id`);
  expect(short.body).toMatchObject({ data: [], meta: { total: 0 } });
});

it("a cursor that no header line could carry is not handed out", async () => {
  const server = await serve({ schema, config });
  await run(server, "INSERT INTO notes (body) VALUES (?), ('z')", "a".repeat(200_000));
  expectRefusal(await client(server).get("/api/notes?sort=body&limit=1&select=id"), 400, "bad_request");
});
