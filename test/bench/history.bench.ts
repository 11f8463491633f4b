import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { closeTransaction, openTransaction } from "../../src/changes/transactions.js";
import { openLibsql } from "../../src/node/database/libsql.js";
import { type Database, type Statement, statement } from "../../src/platform/database.js";
import { applyChange } from "../../src/schema/apply.js";
import { client, dataOf } from "../support/client.js";
import { figure, median } from "../support/figures.js";
import { member, run } from "../support/people.js";
import { serve } from "../support/server.js";

const rounds = 9;

const columns = `
  columns:
    id: { type: integer, primary_key: true }
    title: { type: text, not_null: true }
    body: { type: text }
    amount: { type: integer }
    stars: { type: integer }
    price: { type: real }
    state: { type: text }
    done: { type: boolean }
`;
const schema = `plain:${columns}tracked:\n  history: forever${columns}`;
const tables = ["plain", "tracked"] as const;
type TableName = (typeof tables)[number];

const by = {
  at: Date.UTC(2026, 0, 1),
  principalKind: "user",
  principalId: "43cdb231615b60001c9ae0c17b7648dc",
  attemptId: "019b76da-a800-763e-9a2f-d36f89a13f93",
} as const;

/** What a write returns, as for a request. */
const row = `json_object(${["id", "title", "body", "amount", "stars", "price", "state", "done"].map((name) => `'${name}', ${name}`).join(", ")}) AS row`;

/** What a request sends to the database for some writes to a table. */
const batchOf = (table: TableName, writes: readonly Statement[]) =>
  table === "plain" ? writes : [openTransaction(by), ...writes, ...closeTransaction];

const kinds = [
  ["create", "full", 1, 100],
  ["update", "full", 1, 100],
  ["create", "normal", 50, 30],
  ["update", "normal", 50, 30],
] as const;

test("what a write costs in a table that keeps history, beside one that does not", async () => {
  for (const [kind, synchronous, writes, batches] of kinds) {
    const directory = mkdtempSync(join(tmpdir(), "svc-history-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const database = openLibsql({ path: join(directory, "data.db"), synchronous });
    await applyChange(database, schema, { allowDestructive: false, now: 1 });
    let id = 0;
    const insert = (table: TableName) =>
      statement(
        `INSERT OR ABORT INTO ${table} VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${row}`,
        BigInt(++id),
        "a title",
        "some text that is as long as a sentence is",
        5n,
        6n,
        0.5,
        "open",
        1n,
      );
    const before = 2_000;
    for (const table of tables) for (let i = 0; i < before; i++) await database.batch([insert(table)]);
    const [first] = await ids(database, "plain");
    const [firstTracked] = await ids(database, "tracked");
    const update = (table: TableName, i: number) =>
      statement(
        `UPDATE OR ABORT ${table} SET stars = stars + 1, state = ? WHERE id = ? RETURNING ${row}`,
        `state ${i}`,
        BigInt((table === "plain" ? first! : firstTracked!) + ((i * 7919) % before)),
      );
    let updated = 0;
    const timed = async (table: TableName): Promise<number> => {
      const from = performance.now();
      for (let i = 0; i < batches; i++) {
        const made = Array.from({ length: writes }, () =>
          kind === "create" ? insert(table) : update(table, updated++),
        );
        await database.batch(batchOf(table, made));
      }
      return (performance.now() - from) / (batches * writes);
    };
    const ms: Record<TableName, number[]> = { plain: [], tracked: [] };
    for (let round = 0; round < rounds; round++)
      for (const table of round % 2 === 0 ? tables : tables.toReversed()) ms[table].push(await timed(table));
    const [plain, tracked] = [median(ms.plain), median(ms.tracked)];
    const [[entries, bytes]] = (
      await database.query([
        statement("SELECT count(*) AS n, sum(octet_length(pk) + ifnull(octet_length(old), 0)) AS bytes FROM _changes"),
      ])
    )[0]!.rows as [[number, number]];
    expect(entries).toBeGreaterThanOrEqual(rounds * batches * writes);
    figure(
      "history",
      `${kind}, ${writes} in a transaction, synchronous = "${synchronous}"`,
      `${(plain * 1000).toFixed(1)} µs`,
      `${(tracked * 1000).toFixed(1)} µs`,
      (tracked / plain).toFixed(2),
      Math.round(bytes / entries),
    );
    await database.close();
  }
}, 300_000);

async function ids(database: Database, table: TableName): Promise<readonly number[]> {
  const [result] = await database.query([statement(`SELECT min(id) AS first FROM ${table}`)]);
  return result!.rows.map(([id]) => id as number);
}

const many = 1_000_000;

test("what a pull of 100 changes costs behind a long log", async () => {
  const directory = mkdtempSync(join(tmpdir(), "svc-pull-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const server = await serve({
    isMeasured: true,
    path: join(directory, "data.db"),
    schema: `
$history: forever
members: { primary_key: [room_id, user_id], columns: { room_id: { type: integer }, user_id: { type: text } } }
messages:
  columns:
    id: { type: integer, primary_key: true }
    room_id: { type: integer }
    body: { type: text }
  indexes: [{ columns: [room_id] }]
`,
    config: `[rules.messages]\nread = "exists(members m where m.room_id = row.room_id and m.user_id = auth.id)"`,
  });
  const ann = client(server, (await member(server, "ann")).bearer);
  await run(server, "INSERT INTO members VALUES (1, 'ann')");
  const pull = async (checkpoint: string | null) => {
    const from = performance.now();
    const page = dataOf<{ checkpoint: string; changes: unknown[] }>(
      await ann.post("/api/_svc/pull", { tables: { messages: {} }, checkpoint, limit: 1000 }),
    );
    return { ...page, ms: performance.now() - from };
  };
  for (const rows of [0, many]) {
    if (rows > 0)
      await run(
        server,
        `INSERT INTO messages (room_id, body) SELECT 2 + value % 1000, 'a message of somebody else, ' || value FROM (WITH RECURSIVE n(value) AS (VALUES (1) UNION ALL SELECT value + 1 FROM n LIMIT ${rows}) SELECT value FROM n)`,
      );
    const ms: number[] = [];
    // The whole of it, as a client that begins.
    let { checkpoint } = await settled(pull);
    for (let round = 0; round < 15; round++) {
      await run(
        server,
        `INSERT INTO messages (room_id, body) SELECT 1, 'new ' || value FROM json_each('[${Array.from({ length: 100 }, (_, i) => i).join()}]')`,
      );
      const page = await pull(checkpoint);
      expect(page.changes).toHaveLength(100);
      checkpoint = page.checkpoint;
      ms.push(page.ms);
    }
    const idle: number[] = [];
    for (let round = 0; round < 100; round++) idle.push((await pull(checkpoint)).ms);
    figure("pull", String(rows), `${median(ms).toFixed(1)} ms`, `${median(idle).toFixed(2)} ms`);
  }
}, 600_000);

/** Pulls until there are no more pages. */
async function settled(
  pull: (checkpoint: string | null) => Promise<{ checkpoint: string; more?: boolean }>,
): Promise<{ checkpoint: string }> {
  let page = await pull(null);
  while (page.more) page = await pull(page.checkpoint);
  return page;
}
