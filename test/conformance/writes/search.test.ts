import { expect, test } from "vitest";
import { type Answer, client, dataOf } from "../../support/client.js";
import { member } from "../../support/people.js";
import { serve } from "../../support/server.js";

const schema = `
notes:
  history: forever
  search: [text]
  columns:
    id: { type: text, primary_key: true, default: { sql: "lower(hex(randomblob(8)))" } }
    slug: { type: text, unique: true }
    text: { type: text }
    version: { type: integer, managed: version }
`;
const config = `
[rules.notes]
read = "public"
create = "authenticated"
update = "authenticated"
delete = "authenticated"
`;

const metaOf = (answer: Answer) => (answer.body as { meta: object }).meta;

test("a full-text index does not mislead the guards of writes that belong together, nor what is kept of them", async () => {
  const server = await serve({ schema, config });
  const ann = client(server, (await member(server, "ann")).bearer);
  const words = (length: number) => Array.from({ length }, (_, i) => `word${i}`).join(" ");
  // So many that they are long work under Node.
  const rows = Array.from({ length: 70 }, (_, i) => ({ slug: `s${i}`, text: words(i * 20) }));
  const key = { "Idempotency-Key": "k" };
  const bulk = await ann.post("/api/notes", rows, key);
  expect(metaOf(bulk)).toMatchObject({ rows_written: 70, rows_returned: 70 });
  expect(dataOf(await ann.post("/api/notes", rows, key))).toEqual(dataOf(bulk));
  const path = "/api/notes?on_conflict=slug&on_duplicate=update";
  const upsert = rows.slice(60).map((row, i) => ({ slug: i % 2 ? row.slug : `new${i}`, text: words(600 - i) }));
  const upserted = await ann.post(path, upsert, key);
  expect([upserted.status, metaOf(upserted)]).toMatchObject([200, { rows_written: 10 }]);
  const again = await ann.post(path, upsert, key);
  expect([again.status, dataOf(again)]).toEqual([200, dataOf(upserted)]);
  const operations = [
    { op: "create", table: "notes", values: { text: words(900) } },
    { op: "update", table: "notes", key: { id: { $ref: "0.id" } }, set: { text: words(5) } },
    { op: "create", table: "notes", values: { slug: { $ref: "0.id" }, text: "zebra" } },
    { op: "delete", table: "notes", key: { id: { $ref: "0.id" } } },
  ];
  const batch = await ann.post("/api/_svc/batch", { operations }, key);
  const [first, changed, second, gone] = dataOf<{ id: string; slug: string | null; version: number }[]>(batch);
  expect(changed).toMatchObject({ id: first!.id, version: first!.version + 1 });
  expect([second!.slug, gone]).toEqual([first!.id, { id: first!.id }]);
  expect(metaOf(batch)).toMatchObject({ rows_written: 4 });
  const found = dataOf<{ id: string }[]>(await ann.get("/api/notes?search=zebra"));
  expect(found.map(({ id }) => id)).toEqual([second!.id]);
  const all = await ann.get("/api/notes?limit=1");
  expect((all.body as { meta: { total: number } }).meta.total).toBe(70 + 5 + 1);
});
