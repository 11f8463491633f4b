import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { type Client, client, dataOf, metaOf } from "../support/client.js";
import { figure, median } from "../support/figures.js";
import { member, run } from "../support/people.js";
import { serve } from "../support/server.js";

/** docs/change-log.md#a-first-copy: what a first copy costs beside walking the list of the same rows. */
const own = Number(process.env.OWN ?? 100_000);
const others = Number(process.env.ROWS ?? 1_000_000);
const few = 10;
const rounds = 5;

const schema = `
$history: 30d
rooms:
  columns: { id: { type: integer, primary_key: true }, owner: { type: text } }
members:
  primary_key: [room_id, user_id]
  columns: { room_id: { type: integer, not_null: true }, user_id: { type: text, not_null: true } }
  indexes: [{ columns: [user_id, room_id] }]
notes:
  columns: { id: { type: integer, primary_key: true }, owner: { type: text, not_null: true }, body: { type: text } }
  indexes: [{ columns: [owner] }]
messages:
  columns: { id: { type: integer, primary_key: true }, room_id: { type: integer, not_null: true }, body: { type: text } }
  indexes: [{ columns: [room_id] }]
`;
const config = `
[rules.rooms]
read = "row.owner = auth.id"
[rules.notes]
read = "row.owner = auth.id"
[rules.messages]
read = "exists(members m where m.room_id = row.room_id and m.user_id = auth.id)"
`;

const numbers = (count: number) => `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;

/** Pulls a table to the end; the milliseconds of each page. */
async function copied(caller: Client, table: string, limit: number): Promise<readonly number[]> {
  const pages: number[] = [];
  let checkpoint: string | null = null;
  for (let more = true; more; ) {
    const start = performance.now();
    const answer = await caller.post("/api/_svc/pull", { tables: { [table]: {} }, checkpoint, limit });
    pages.push(performance.now() - start);
    const page = dataOf<{ checkpoint: string; more: boolean }>(answer);
    ({ checkpoint, more } = page);
  }
  return pages;
}

async function walked(caller: Client, table: string, limit: number): Promise<readonly number[]> {
  const pages: number[] = [];
  for (let path: string | undefined = `/api/${table}?total=none&limit=${limit}`; path !== undefined; ) {
    const start = performance.now();
    const answer = await caller.get(path);
    pages.push(performance.now() - start);
    const { next_cursor } = metaOf(answer);
    path = next_cursor && `/api/${table}?cursor=${next_cursor}`;
  }
  return pages;
}

const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);

test("a first copy beside walking the list", { timeout: 1_200_000 }, async () => {
  const directory = mkdtempSync(join(tmpdir(), "svc-bench-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const server = await serve({ schema, config, path: join(directory, "data.db"), isMeasured: true });
  const ada = await member(server, "ada");
  const bob = await member(server, "bob");
  const body = "'note ' || i || ', which says something'";
  await run(server, `${numbers(own)} INSERT INTO notes (owner, body) SELECT '${ada.id}', ${body} FROM n`);
  await run(server, `INSERT INTO members VALUES (1, '${ada.id}'), (2, '${bob.id}')`);
  const room = `iif(i % ${Math.floor(others / few)} = 0, 2, 3 + i % 1000)`;
  await run(server, `${numbers(others)} INSERT INTO messages (room_id, body) SELECT ${room}, ${body} FROM n`);

  const copies: number[] = [];
  const walks: number[] = [];
  const firsts: number[] = [];
  const lasts: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const pages = await copied(client(server, ada.bearer), "notes", 500);
    const tenth = Math.ceil(pages.length / 10);
    firsts.push(median(pages.slice(1, 1 + tenth)));
    lasts.push(median(pages.slice(-tenth - 1, -1)));
    copies.push(sum(pages));
    walks.push(sum(await walked(client(server, ada.bearer), "notes", 500)));
  }
  const row = (name: string, copy: number, list: number) =>
    figure("first copy", name, `${copy.toFixed(1)} ms`, `${list.toFixed(1)} ms`, copy / list);
  row(`${own.toLocaleString("en")} own rows, in pages of 500`, median(copies), median(walks));
  const name = "the last tenth of these pages, and the first";
  figure(
    "first copy",
    name,
    `${median(lasts).toFixed(1)} ms`,
    `${median(firsts).toFixed(1)} ms`,
    median(lasts) / median(firsts),
  );

  const fewCopied: number[] = [];
  const fewListed: number[] = [];
  for (let turn = 0; turn < 51; turn++) {
    fewCopied.push(sum(await copied(client(server, bob.bearer), "messages", 500)));
    fewListed.push(sum(await walked(client(server, bob.bearer), "messages", 500)));
  }
  row(`${few} rows beside ${others.toLocaleString("en")} of others`, median(fewCopied), median(fewListed));
});
