import { expect, test } from "vitest";
import { client, dataOf } from "../../support/client.js";
import { run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

const schema = `
notes:
  history: forever
  columns:
    id: { type: integer, primary_key: true }
    n: { type: integer }
    body: { type: text }
`;
const pageBytes = 50_000;
const config = `usage.enabled = false\napi.max_page_bytes = ${pageBytes}\n[rules.notes]\nread = "public"\n`;

/** What all pages have together, and that none of them has many more bytes than a page may have. */
async function whole(get: (path: string) => Promise<{ text: string; body: unknown }>, path: string, query: string) {
  const found: { readonly id?: number; readonly op?: string; readonly row?: { id: number; n: number } }[] = [];
  for (let next: string | undefined = `${path}?${query}`; next !== undefined; ) {
    const { text, body } = await get(next);
    const { data, meta } = body as { data: typeof found; meta: { next_cursor?: string } };
    expect(text.length, next).toBeLessThan(1.2 * pageBytes);
    found.push(...data);
    next = meta.next_cursor && `${path}?cursor=${meta.next_cursor}`;
  }
  return found;
}

test("pages of the history, of a state and of changes end at the bytes of a page, and leave nothing out", async () => {
  const server = await serve({ schema, config });
  const key = client(server, await apiKey(server, "project:backend"));
  const get = (path: string) => key.get(path);
  const rows = 30;
  await run(
    server,
    `WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < ${rows}) INSERT INTO notes SELECT n, 0, hex(zeroblob(10000)) FROM i`,
  );
  let checkpoint: string | null = null;
  const pull = async () => {
    const changes: { op: string; key: { id: number }; row: { n: number } }[] = [];
    for (let more = true; more; ) {
      const answer = await key.post("/api/_svc/pull", { tables: { notes: {} }, checkpoint });
      expect(answer.text.length).toBeLessThan(1.2 * pageBytes);
      const page: { checkpoint: string; more: boolean; changes: typeof changes } = dataOf(answer);
      changes.push(...page.changes);
      ({ checkpoint, more } = page);
    }
    return changes;
  };
  const ids = Array.from({ length: rows }, (_, i) => i + 1);
  expect((await pull()).map((change) => [change.key.id, change.row.n])).toEqual(ids.map((id) => [id, 0]));
  await run(server, "UPDATE notes SET n = 1 WHERE id <= 20");
  await run(server, "DELETE FROM notes WHERE id = 3");
  const changed = new Map(
    (await pull()).map((change) => [change.key.id, change.op === "remove" ? null : change.row.n]),
  );
  expect(changed).toEqual(new Map(ids.slice(0, 20).map((id) => [id, id === 3 ? null : 1])));
  const first = await whole(get, "/api/notes/_svc/state", `at=${rows}`);
  expect(first).toEqual(ids.map((id) => expect.objectContaining({ id, n: 0 })));
  const filtered = await whole(get, "/api/notes/_svc/state", `at=${rows + 20}&where[n]=1`);
  expect(filtered.map(({ id }) => id)).toEqual(ids.slice(0, 20));
  const history = await whole(get, "/api/notes/_svc/history", "limit=1000");
  expect(history.map(({ op }) => op)).toEqual([
    "delete",
    ...Array<string>(20).fill("update"),
    ...Array<string>(rows).fill("insert"),
  ]);
  const own = await whole(get, "/api/notes/_svc/history", "where[id]=5");
  expect(own.map(({ op, row }) => [op, row!.n])).toEqual([
    ["update", 1],
    ["insert", 0],
  ]);
});
