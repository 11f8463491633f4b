import { expect, test } from "vitest";
import { figure, median, timed } from "../support/figures.js";
import { apiKey, serve, signUp, type TestServer } from "../support/server.js";

const rows = 100_000;
const rooms = 100;
const limit = 50;
const deep = 1000;
const repetitions = 300;

const schema = `
messages:
  columns:
    id:         { type: integer, primary_key: true }
    room_id:    { type: integer, not_null: true }
    created_at: { type: integer, not_null: true }
    body:       { type: text, not_null: true }
  indexes: [{ columns: [created_at] }, { columns: [room_id, -created_at] }]
members:
  primary_key: [room_id, user_id]
  columns:
    room_id: { type: integer, not_null: true }
    user_id: { type: text, not_null: true }
`;

const config = `
[rules.messages]
read = "exists(members m where m.room_id = row.room_id and m.user_id = auth.id)"
`;

test("a page that a thousand cursors reach costs what the second one costs", async () => {
  const server = await serve({ schema, config });
  const user = await signUp(server, "ada@example.com");
  await fill(server, user.id);
  const key = await apiKey(server, "resource:messages:read");
  for (const [name, query, headers] of [
    ["by primary key, API key", "", key],
    ["by created_at (ties of 10), API key", "&sort=created_at", key],
    ["by primary key, membership rule", "", user.bearer],
  ] as const) {
    const pages = await walk(server, `/api/messages?limit=${limit}${query}`, headers);
    const [second, thousandth] = await compare(server, pages.get(2)!, pages.get(deep)!, headers);
    const thousandthName = `the ${deep}th cursor page of 100,000 rows, ${name}`;
    figure("speed", thousandthName, ms(thousandth), `${ms(second)} for the second`, second / thousandth, "≥ 0.85");
  }
});

const ms = (value: number) => `${value.toFixed(2)} ms`;

async function fill({ database }: TestServer, userId: string): Promise<void> {
  const numbers = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ? - 1)";
  await database.batch([
    {
      sql: `${numbers} INSERT INTO messages (room_id, created_at, body) SELECT i % ?, i / 10, 'message number ' || i FROM n`,
      params: [BigInt(rows), BigInt(rooms)],
    },
    {
      sql: `${numbers} INSERT INTO members (room_id, user_id) SELECT i, ? FROM n`,
      params: [BigInt(rooms), userId],
    },
  ]);
}

/** Follows cursors and keeps the address of the pages that matter. */
async function walk(server: TestServer, first: string, headers: Record<string, string>): Promise<Map<number, string>> {
  const kept = new Map<number, string>();
  let path = first;
  for (let page = 1; page <= deep; page++) {
    if (page === 2 || page === deep) kept.set(page, path);
    const { meta } = (await (await server.request(path, { headers })).json()) as {
      meta: { next_cursor: string };
    };
    path = `/api/messages?cursor=${meta.next_cursor}`;
  }
  return kept;
}

/** Medians of both, taken in turns, so that a noisy machine is noisy for both. */
async function compare(
  server: TestServer,
  a: string,
  b: string,
  headers: Record<string, string>,
): Promise<[number, number]> {
  const times: [number[], number[]] = [[], []];
  for (let i = 0; i < repetitions; i++)
    for (const [index, path] of [a, b].entries())
      times[index]!.push(
        await timed(async () => {
          const response = await server.request(path, { headers });
          expect(((await response.json()) as { data: unknown[] }).data).toHaveLength(limit);
        }),
      );
  return [median(times[0]), median(times[1])];
}
