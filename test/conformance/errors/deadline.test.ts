import { expect, it } from "vitest";
import { client, dataOf, expectRefusal } from "../../support/client.js";
import { member, rowsOf, run } from "../../support/people.js";
import { receiptRows } from "../../support/receipts.js";
import { apiKey, onFile, onSqld, serve, skip } from "../../support/server.js";

/** docs/reference/limits.md#long-work */
const schema = `
notes:
  columns: { id: { type: integer, primary_key: true }, label: { type: text, not_null: true } }
labels:
  columns: { id: { type: integer, primary_key: true }, label: { type: text, not_null: true } }
`;
const config = `
[api]
deadline_ms = 100
key_deadline_ms = 3600000
[rules.notes]
read = "exists(labels l where l.label = row.label)"
create = "exists(labels l where l.label = new.label)"
update = "exists(labels l where l.label = row.label)"
`;
const numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)";

/** The local D1 has one thread, so that no timer fires while it computes; test/platform/d1.test.ts has one that hangs. */
function leaveOut(): void {
  if (!onFile && !onSqld) skip("nothing runs beside the event loop");
}

async function slow() {
  const server = await serve({ schema, config });
  await run(server, `${numbers} INSERT INTO notes SELECT i, 'note ' || i FROM n`);
  await run(server, `${numbers} INSERT INTO labels SELECT i, 'label ' || i FROM n`);
  return { server, ada: client(server, (await member(server, "ada")).bearer) };
}

it.each(["list", "aggregate"])(
  "a(n) %s that takes too long ends with 503 `deadline_exceeded` and its receipt, and the next request is served",
  async (kind) => {
    leaveOut();
    const { server, ada } = await slow();
    const path = kind === "list" ? "/api/notes" : "/api/notes/_svc/aggregate?count=*";
    expectRefusal(await ada.get(path), 503, "deadline_exceeded");
    const receipts = await rowsOf(server, `SELECT status, rows_read FROM ${receiptRows}`);
    expect(receipts).toEqual([[503, null]]);
    expect((await client(server).get("/health")).status).toBe(200);
  },
);

it("a key has more time, and sees the same rows", async () => {
  leaveOut();
  const { server } = await slow();
  const key = client(server, await apiKey(server, "resource:notes:read"));
  const page = await key.get("/api/notes?limit=1000&filter[label][contains]=note");
  expect(dataOf<unknown[]>(page)).toHaveLength(1000);
});

it("an operation that takes too long, reading or writing, ends with 503, and has done nothing", async () => {
  leaveOut();
  const operations = `
$operations:
  count:
    allow: public
    steps:
      - { sql: "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) as n from n", returns: one, as: { n: integer } }
  copy:
    allow: public
    steps:
      - { sql: "insert into labels (label) values ('first')" }
      - { sql: "insert into labels (label) select a.label from notes a, notes b, notes c" }
`;
  const server = await serve({ schema: schema + operations, config });
  await run(server, `${numbers} INSERT INTO notes SELECT i, 'note ' || i FROM n LIMIT 2000`);
  const nobody = client(server);
  expectRefusal(await nobody.get("/ops/count"), 503, "deadline_exceeded");
  if (onFile) expectRefusal(await nobody.post("/ops/copy", {}), 503, "deadline_exceeded");
  expect(await rowsOf(server, "SELECT count(*) AS n FROM labels")).toEqual([[0]]);
  expect((await nobody.get("/health")).status).toBe(200);
});
