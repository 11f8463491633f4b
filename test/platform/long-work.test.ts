import { statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openLibsql } from "../../src/node/database/libsql.js";
import { readsAtOnce } from "../../src/node/database/libsql-long-work.js";
import {
  ConstraintError,
  type Database,
  DeadlineError,
  type LongWork,
  QueueFullError,
  statement,
  UnavailableError,
} from "../../src/platform/database.js";
import { Random } from "../property/support/random.js";
import { figure, quantile } from "../support/figures.js";

/** docs/reference/limits.md#long-work */
let folder: string;
let database: Database;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-long-work-"));
  database = openLibsql({ path: join(folder, "data.db"), synchronous: "normal" });
  await database.migrate([
    statement("CREATE TABLE item (id INTEGER PRIMARY KEY, body TEXT) STRICT"),
    statement("CREATE TABLE part (item_id INTEGER REFERENCES item ON DELETE CASCADE) STRICT"),
  ]);
});

afterEach(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

const counting = (from: number, howMany: number) =>
  `WITH RECURSIVE n(i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${from + howMany - 1})`;
/** Takes longer than any test. */
const endless = statement(`${counting(1, 2 ** 40)} SELECT count(*) AS n FROM n`);
const quick = statement("SELECT 1 AS one");
const of = (principal: string, withinMs = 600_000, isKey = false): LongWork => ({
  principal,
  isKey,
  withinMs,
});
const ids = async () => (await database.query([statement("SELECT id FROM item ORDER BY id")]))[0]!.rows.flat();
const insertMany = (from: number, howMany: number) =>
  statement(`${counting(from, howMany)} INSERT INTO item SELECT i, 'x' FROM n`);

describe("a read", () => {
  it("ends at its deadline, and the next one finds the connection usable", async () => {
    await expect(database.query([endless], of("ada", 50))).rejects.toThrow(DeadlineError);
    expect(await database.query([quick], of("ada"))).toEqual([{ rows: [[1]], rowsWritten: 0 }]);
  });

  it("leaves the event loop to others, and reads of theirs", async () => {
    let hasEnded = false;
    const ended = expect(
      database.query([endless], of("ada")).finally(() => {
        hasEnded = true;
      }),
    ).rejects.toThrow(UnavailableError);
    for (let turns = 0; turns < 100; turns++) await nextTurn().then(() => database.query([quick]));
    expect(hasEnded).toBe(false);
    await database.close();
    await ended;
  });

  it("sees what was committed before it was asked", async () => {
    for (let id = 1; id <= 20; id++) {
      await database.batch([statement("INSERT INTO item VALUES (?, NULL)", BigInt(id))]);
      const [result] = await database.query([statement("SELECT count(*) AS n FROM item")], of("ada"));
      expect(result!.rows).toEqual([[id]]);
    }
  });

  it("waits for its turn, which counts towards its deadline", async () => {
    const running = Array.from({ length: readsAtOnce }, (_, i) =>
      expect(database.query([endless], of(`user ${i}`, 300))).rejects.toThrow(DeadlineError),
    );
    await expect(database.query([quick], of("bob", 20))).rejects.toThrow(DeadlineError);
    expect(await database.query([quick], of("bob"))).toEqual([{ rows: [[1]], rowsWritten: 0 }]);
    await Promise.all(running);
  });

  it("is refused where 64 wait already", async () => {
    const asked = Array.from({ length: 2 + 64 }, () => database.query([endless], of("ada", 300)));
    await expect(database.query([quick], of("ada"))).rejects.toThrow(QueueFullError);
    const outcomes = await Promise.allSettled(asked);
    expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
    expect(await database.query([quick], of("ada"))).toEqual([{ rows: [[1]], rowsWritten: 0 }]);
  });
});

describe("a write", () => {
  it("that is interrupted leaves nothing, and others go on", async () => {
    const random = new Random(Random.seedOfRun());
    const rounds = Number(process.env.INTERRUPTS ?? 10);
    const overruns: number[] = [];
    let acknowledged = 0;
    for (let round = 0; round < rounds; round++) {
      const withinMs = random.int(0, 20);
      const fromMs = performance.now();
      const others = [1, 2, 3].map((n) =>
        database.batch([statement("INSERT INTO item VALUES (?, NULL)", BigInt(-(10 * round + n)))]),
      );
      const long = database.batch([insertMany(1, 10), insertMany(11, 2 ** 40)], of(`user ${round}`, withinMs));
      await expect(long).rejects.toThrow(DeadlineError);
      overruns.push(performance.now() - fromMs - withinMs);
      await Promise.all(others);
      acknowledged += others.length;
    }
    const there = await ids();
    figure(
      "strength",
      `${rounds} interrupted writes, concurrent with others`,
      `${there.length - acknowledged} of their rows stored, ${acknowledged - there.length} of the others lost`,
    );
    process.stdout.write(
      `overrun: median ${quantile(overruns, 0.5).toFixed(0)} ms, p99 ${quantile(overruns, 0.99).toFixed(0)} ms\n`,
    );
    expect(there).toHaveLength(acknowledged);
    expect(there.every((id) => (id as number) < 0)).toBe(true);
  });

  it("counts rows of foreign key actions, and refuses what a constraint refuses", async () => {
    await database.batch([insertMany(1, 10)], of("ada"));
    await database.batch([statement(`${counting(1, 500)} INSERT INTO part SELECT 1 + i % 5 FROM n`)], of("ada"));
    const [deleted] = await database.batch([statement("DELETE FROM item WHERE id = ? RETURNING id", 1n)], of("ada"));
    expect(deleted).toEqual({ rows: [[1]], rowsWritten: 101 });
    await expect(database.batch([insertMany(2, 1)], of("ada"))).rejects.toThrow(ConstraintError);
    expect(await ids()).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });
});

it("a migration may ask whether statements compile with what it has changed, and commits", async () => {
  await database.migrate(
    [
      statement("CREATE TABLE tag (name TEXT PRIMARY KEY) STRICT"),
      statement("EXPLAIN UPDATE tag SET name = ?", "x"),
      statement("EXPLAIN SELECT name FROM tag"),
    ],
    of("ada"),
  );
  const refused = database.migrate(
    [statement("CREATE TABLE other (id INTEGER) STRICT"), statement("EXPLAIN SELECT missing FROM tag")],
    of("ada"),
  );
  await expect(refused).rejects.toThrow("no such column: missing");
  const tables = "SELECT name FROM sqlite_schema WHERE name IN ('tag', 'other')";
  expect((await database.query([statement(tables)]))[0]!.rows).toEqual([["tag"]]);
});

it("the log is written from its beginning again, although there is always a long read", async () => {
  const log = join(folder, "data.db-wal");
  const megabyte = statement("INSERT INTO item (body) VALUES (hex(zeroblob(500000)))");
  const reading = statement(`${counting(1, 2 ** 40)} SELECT (SELECT count(*) FROM item) + count(*) AS n FROM n`);
  let isOver = false;
  const ended: (() => void)[] = [];
  const aReadEnds = () => new Promise<void>((resolve) => ended.push(resolve));
  // Two who take turns: there is always one whose snapshot SQLite has to keep.
  const readers = ["ada", "bob"].map(async (principal) => {
    while (!isOver) {
      await database.query([reading], of(principal, 20)).catch(() => {});
      for (const tell of ended.splice(0)) tell();
    }
  });
  // Between two ends of reads one megabyte is written, so that the log grows no further while reads wait for it.
  let written = 0;
  const logMb = () => statSync(log).size / 1e6;
  while (written < logMb() + 30 && written < 250) {
    await Promise.all([database.batch([megabyte]), aReadEnds()]);
    written++;
  }
  isOver = true;
  await Promise.all(readers);
  process.stdout.write(`${written} MB written; the log has ${logMb().toFixed(0)} MB\n`);
  expect(await ids()).toHaveLength(written);
  expect(written).toBeLessThan(250);
});

it("closing ends what runs and what waits, and keeps what was acknowledged", async () => {
  await database.batch([insertMany(1, 5)], of("ada"));
  const asked = [
    ...Array.from({ length: 20 }, (_, i) => database.query([endless], of(`user ${i}`))),
    database.batch([insertMany(6, 2 ** 40)], of("ada")),
  ];
  const outcomes = Promise.allSettled(asked);
  await database.query([quick]);
  await database.close();
  for (const outcome of await outcomes)
    expect(outcome).toMatchObject({ status: "rejected", reason: expect.any(UnavailableError) });
  database = openLibsql({ path: join(folder, "data.db"), synchronous: "normal" });
  expect(await ids()).toEqual([1, 2, 3, 4, 5]);
  expect((await database.query([statement("PRAGMA integrity_check")]))[0]!.rows).toEqual([["ok"]]);
});
