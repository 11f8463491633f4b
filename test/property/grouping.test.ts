import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Libsql from "libsql";
import { expect, onTestFinished, test } from "vitest";
import { openLibsql } from "../../src/node/database/libsql.js";
import { pullSchema } from "../../src/schema/pull/pull.js";
import { type Answer, client } from "../support/client.js";
import { member, run } from "../support/people.js";
import { apiKey, serve } from "../support/server.js";
import { Random } from "./support/random.js";

/**
 * What is counted in groups is what would have been counted one by one: with NULLs, in tables that just fit into a window
 * and just do not, behind gates that are open and closed. `SEED=…` repeats a run.
 */
const random = new Random(Random.seedOfRun());

const schema = `
gates: { columns: { id: { type: text, primary_key: true } } }
members:
  primary_key: [room, user]
  columns: { room: { type: integer }, user: { type: text } }
items:
  columns:
    id:   { type: integer, primary_key: true }
    room: { type: integer }
    kind: { type: text }
    size: { type: real }
    done: { type: boolean }
  indexes: [{ columns: [room, kind] }, { columns: [kind, room] }, { columns: [size] }, { columns: [done, room] }]
`;

const config = (scanLimit: number) => `
[api]
scan_limit = ${scanLimit}
[rules.items]
read = """exists(gates g where g.id = auth.id)
  and (exists(members m where m.room = row.room and m.user = auth.id) or row.kind is null)"""
`;

interface Item {
  readonly id: number;
  readonly room: number | null;
  readonly kind: string | null;
  readonly size: number | null;
  readonly done: boolean | null;
}

const randomItem = (i: number): Item => ({
  id: i + 1,
  room: random.chance(0.2) ? null : random.int(1, 4),
  kind: random.chance(0.3) ? null : random.pick(["x", "y"]),
  size: random.pick([0, -0, 1.5, null]),
  done: random.pick([true, false, null]),
});

const queries: readonly (readonly [query: string, holds: (item: Item) => boolean])[] = [
  ["", () => true],
  ["filter[kind][ne]=x", ({ kind }) => kind !== null && kind !== "x"],
  ["filter[done][ne]=true", ({ done }) => done === false],
  ["filter[size][lt]=1&sort=-id", ({ size }) => size !== null && size < 1],
];

const integer = (value: number | boolean | null) => (value === null ? null : BigInt(value));

interface ListBody {
  readonly data: readonly Item[];
  readonly meta: { readonly total: number; readonly next_cursor?: string };
}

async function pages(get: (path: string) => Promise<Answer>, query: string, limit: number) {
  const ids: number[] = [];
  for (let path = `/api/items?limit=${limit}&${query}`; ; ) {
    const answer = await get(path);
    expect(answer.status, `${path}: ${answer.text}`).toBe(200);
    const { data, meta } = answer.body as ListBody;
    ids.push(...data.map(({ id }) => id));
    if (meta.next_cursor === undefined) return { ids: ids.sort((a, b) => a - b), total: meta.total };
    path = `/api/items?cursor=${meta.next_cursor}`;
  }
}

const sizes = [0, 1, 7, 12];
const cases = sizes.flatMap((size) => [-1, 0, 1].map((more) => [size, size + more] as const));

test.each(cases.filter(([, scanLimit]) => scanLimit > 0))(
  "%d rows under a scan limit of %d",
  async (size, scanLimit) => {
    const server = await serve({ schema, config: config(scanLimit) });
    const [ada, bob] = [await member(server, "ada"), await member(server, "bob")];
    await run(server, "INSERT INTO gates VALUES ('ada')");
    await run(server, "INSERT INTO members VALUES (1, 'ada'), (2, 'bob'), (3, 'ada')");
    const items = random.times(size, randomItem);
    for (const { id, room, kind, size, done } of items)
      await run(
        server,
        "INSERT INTO items VALUES (?, ?, ?, ?, ?)",
        BigInt(id),
        integer(room),
        kind,
        size,
        integer(done),
      );
    for (const { bearer, admits } of [
      { bearer: ada.bearer, admits: ({ room, kind }: Item) => kind === null || room === 1 || room === 3 },
      { bearer: bob.bearer, admits: () => false },
    ])
      for (const [query, holds] of queries) {
        const ids = items.filter((item) => admits(item) && holds(item)).map(({ id }) => id);
        for (const limit of [1, 3, 50])
          expect(await pages((path) => client(server, bearer).get(path), query, limit), query).toEqual({
            ids,
            total: ids.length,
          });
      }
  },
);

test("values that are equal and yet two are judged one by one", async () => {
  const directory = mkdtempSync(join(tmpdir(), "svc-grouping-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, "data.db");
  const database = new Libsql(path);
  database.exec("CREATE TABLE items (id INTEGER PRIMARY KEY, value ANY) STRICT");
  database.exec("CREATE INDEX by_value ON items (value, id)");
  database.exec("INSERT INTO items (value) VALUES (1), (1.0), ('1'), (NULL)");
  database.close();
  const opened = openLibsql({ path, synchronous: "normal" });
  const { text } = await pullSchema(opened);
  await opened.close();
  const server = await serve({ schema: text, path });
  const headers = await apiKey(server, "project:backend");
  const answer = await client(server, headers).get("/api/items?select=id&filter[value][contains]=.");
  expect(answer.body).toMatchObject({ data: [{ id: 2 }], meta: { total: 1 } });
});
