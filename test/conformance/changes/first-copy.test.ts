import { expect, test } from "vitest";
import { type Client, client, dataOf } from "../../support/client.js";
import { member, run } from "../../support/people.js";
import { serve, type TestServer } from "../../support/server.js";

const columns = `columns:
    id: { type: integer, primary_key: true }
    n: { type: integer, not_null: true }
    body: { type: text }`;
const tables = ["archived", "notes", "tasks"];
const schema = tables.map((table) => `${table}:\n  history: forever\n  ${columns}\n`).join("");
const pageBytes = 65_536;
const config = `
usage.enabled = false
api.max_page_bytes = ${pageBytes}
${tables.map((table) => `[rules.${table}]\nread = "public"`).join("\n")}
`;

interface Change {
  readonly table: string;
  readonly op: "insert" | "update" | "delete";
  readonly key: object;
  readonly row?: { readonly n: number };
}

interface Page {
  readonly checkpoint: string;
  readonly more: boolean;
  readonly changes: readonly Change[];
}

/** Pulls until there is no more. `between` runs before each pull but the first. */
async function copy(
  caller: Client,
  tables: object,
  limit: number,
  between: (pulls: number) => Promise<unknown>,
  from: string | null = null,
) {
  const pages: { changes: number; bytes: number }[] = [];
  const held = new Map<string, { readonly n: number }>();
  let checkpoint = from;
  for (let more = true; more; ) {
    if (pages.length > 0) await between(pages.length);
    const answer = await caller.post("/api/_svc/pull", { tables, checkpoint, limit });
    const page = dataOf(answer) as unknown as Page;
    for (const { table, key, row } of page.changes) {
      // Only a row that the client has can be removed.
      if (row === undefined) expect(held.delete(`${table} ${JSON.stringify(key)}`)).toBe(true);
      else held.set(`${table} ${JSON.stringify(key)}`, row);
    }
    pages.push({ changes: page.changes.length, bytes: answer.text.length });
    ({ checkpoint, more } = page);
  }
  return { pages, held: [...held.values()], checkpoint };
}

const fill = (server: TestServer, table: string, rows: number, bytes = 2) =>
  run(
    server,
    `WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < ${rows}) INSERT INTO ${table} SELECT n, 0, hex(zeroblob(${bytes / 2})) FROM i`,
  );

async function caller(server: TestServer): Promise<Client> {
  return client(server, (await member(server, "ann")).bearer);
}

const listed = async (of: Client, table: string) => dataOf<object[]>(await of.get(`/api/${table}?limit=1000`));

test("a copy in pages of one row ends, though a row is changed before each of them", async () => {
  const server = await serve({ schema, config });
  const ann = await caller(server);
  await fill(server, "notes", 5);
  const { pages, held } = await copy(ann, { notes: {} }, 1, (pulls) =>
    run(server, `UPDATE notes SET n = ${pulls} WHERE id = 1`),
  );
  // Each row of the list and, after it, the row that has changed.
  expect(pages.length).toBeLessThanOrEqual(2 * 5 + 1);
  expect(pages.every(({ changes }) => changes <= 1)).toBe(true);
  expect(held).toHaveLength(5);
  expect(held).toEqual(expect.arrayContaining((await listed(ann, "notes")).slice(1)));
});

test("a copy goes on, though more rows than its page has are changed before each page", async () => {
  const server = await serve({ schema, config });
  const ann = await caller(server);
  await fill(server, "notes", 100);
  // The last rows of the list go, and the client has not been told of them yet.
  const { pages, held } = await copy(ann, { notes: {} }, 20, async (pulls) => {
    await run(server, `UPDATE notes SET n = ${pulls}`);
    await run(server, `DELETE FROM notes WHERE id = ${101 - pulls}`);
  });
  // Before each of the five pages of the list come at most as many changes as the client has rows.
  expect(pages.length).toBeLessThanOrEqual(5 + 10 + 5 + 10);
  expect(pages.every(({ changes }) => changes <= 20)).toBe(true);
  // All of one moment: after as many deletions as there were updates.
  const moments = new Set(held.map(({ n }) => n));
  expect(moments.size).toBe(1);
  expect(held).toHaveLength(100 - [...moments][0]!);
});

test("a page of many tables ends at the bytes of a page, in a first copy and after it", async () => {
  const server = await serve({ schema, config });
  const ann = await caller(server);
  for (const table of tables) await fill(server, table, 100, 1000);
  const followed = Object.fromEntries(tables.map((table) => [table, {}]));
  const first = await copy(ann, followed, 1000, async () => {});
  expect(first.held).toHaveLength(300);
  for (const table of tables) await run(server, `UPDATE ${table} SET n = 1`);
  const later = await copy(ann, followed, 1000, async () => {}, first.checkpoint);
  expect(later.held).toHaveLength(300);
  for (const { bytes } of [...first.pages, ...later.pages]) expect(bytes).toBeLessThan(pageBytes);
});

test("rows with a NULL in their key are in no copy", async () => {
  const tags = "tags:\n  strict: false\n  history: forever\n  columns:\n    name: { type: text, primary_key: true }\n";
  const server = await serve({ schema: tags, config: '[rules.tags]\nread = "public"' });
  await run(server, "INSERT INTO tags VALUES ('a'), (NULL), ('b')");
  const { held } = await copy(await caller(server), { tags: {} }, 500, async () => {});
  expect(held).toEqual([{ name: "a" }, { name: "b" }]);
});
