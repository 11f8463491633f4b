import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import Libsql from "libsql";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { openLibsql } from "../../src/node/database/libsql.js";
import type { LibsqlOptions } from "../../src/node/database/libsql-connection.js";
import { asLongWork } from "../../src/platform/as-long-work.js";
import {
  type Database,
  type SqlValue,
  type Statement,
  StatementError,
  UnavailableError,
} from "../../src/platform/database.js";
import { databaseContract } from "./database.contract.js";

databaseContract("libsql in memory", async () => ({
  database: openLibsql({ path: ":memory:", synchronous: "full" }),
}));

databaseContract("libsql on a file", async () => {
  const folder = await temporaryFolder();
  return {
    database: openLibsql({ path: join(folder, "data.db"), synchronous: "normal" }),
    dispose: () => rm(folder, { recursive: true }),
  };
});

databaseContract("libsql on a file, all work in the thread for long work", async () => {
  const folder = await temporaryFolder();
  const database = openLibsql({ path: join(folder, "data.db"), synchronous: "normal" });
  const long = { principal: "ada", isKey: false, withinMs: 600_000 };
  return {
    database: asLongWork(database, () => long),
    dispose: () => rm(folder, { recursive: true }),
  };
});

describe("openLibsql", () => {
  let folder: string;
  let path: string;
  let database: Database;

  beforeEach(async () => {
    folder = await temporaryFolder();
    path = join(folder, "missing", "folder", "data.db");
    database = open();
    await database.migrate([sql("CREATE TABLE item (id INTEGER PRIMARY KEY, body BLOB) STRICT")]);
  });

  afterEach(async () => {
    await database.close();
    await rm(folder, { recursive: true });
  });

  const open = (options: Partial<LibsqlOptions> = {}) => openLibsql({ path, synchronous: "full", ...options });
  const insert = (id: number, bytes = 0) =>
    database.batch([sql("INSERT INTO item VALUES (?, zeroblob(?))", BigInt(id), BigInt(bytes))]);
  const ids = async () => (await database.query([sql("SELECT id FROM item ORDER BY id")]))[0]!.rows.flat();
  const pragma = async (name: string, on = database) => (await on.query([sql(`PRAGMA ${name}`)]))[0]!.rows[0]![0];

  it("commits batches in the order in which they were given", async () => {
    const given = Array.from({ length: 150 }, (_, index) => 150 - index);
    const rowOfId = await Promise.all(
      given.map(async (id) => {
        const [, count] = await database.batch([
          sql("INSERT INTO item VALUES (?, NULL)", BigInt(id)),
          sql("SELECT count(*) FROM item"),
        ]);
        return count!.rows[0]![0];
      }),
    );
    expect(rowOfId).toEqual(given.map((_, index) => index + 1));
  });

  it("never lets a read see a part of a batch", async () => {
    const batches = Array.from({ length: 100 }, (_, index) =>
      database.batch([
        sql("INSERT INTO item VALUES (?, NULL)", BigInt(2 * index)),
        sql("INSERT INTO item VALUES (?, NULL)", BigInt(2 * index + 1)),
      ]),
    );
    const counts = await Promise.all(batches.map((batch) => batch.then(async () => (await ids()).length % 2)));
    expect(new Set(counts)).toEqual(new Set([0]));
  });

  it("goes on with the batches that a slow one held up", async () => {
    const slow = sql(
      "SELECT count(*) FROM json_each(?) a, json_each(?) b",
      ...Array(2).fill(JSON.stringify(Array(700).fill(0))),
    );
    await Promise.all(
      [1, 2, 3].map((id) => database.batch([slow, sql("INSERT INTO item VALUES (?, NULL)", BigInt(id))])),
    );
    expect(await ids()).toEqual([1, 2, 3]);
  });

  it("runs nothing twice and counts no row twice where one of many fails, again and again", async () => {
    await database.migrate([
      sql("CREATE TABLE log (id INTEGER)"),
      sql("CREATE TRIGGER logs AFTER INSERT ON item BEGIN INSERT INTO log VALUES (new.id); END"),
    ]);
    const add = (id: number) => database.batch([sql("INSERT INTO item VALUES (?, NULL)", BigInt(id))]);
    for (const first of [0, 10, 20]) {
      const given = [0, 1, 2, 2, 3, 0, 4].map((i) => add(first + i));
      const outcomes = await Promise.allSettled(given);
      const written = outcomes.map((each) => (each.status === "fulfilled" ? each.value[0]!.rowsWritten : null));
      expect(written).toEqual([2, 2, 2, null, 2, null, 2]);
    }
    const all = [0, 10, 20].flatMap((first) => [0, 1, 2, 3, 4].map((i) => first + i));
    expect(await ids()).toEqual(all);
    expect((await database.query([sql("SELECT id FROM log ORDER BY id")]))[0]!.rows.flat()).toEqual(all);
  });

  it("sees what another connection changed, rows and columns", async () => {
    const all = sql("SELECT * FROM item");
    expect((await database.query([all]))[0]!.rows).toEqual([]);
    const other = new Libsql(path);
    other.exec("ALTER TABLE item ADD COLUMN note TEXT; INSERT INTO item VALUES (1, NULL, 'new')");
    expect((await database.query([all]))[0]!.rows).toEqual([[1, null, "new"]]);
    await database.batch([sql("INSERT INTO item VALUES (2, NULL, 'own')")]);
    other.close();
  });

  it("runs more different statements than it keeps prepared", async () => {
    const texts = Array.from({ length: 700 }, (_, index) => sql(`SELECT ${index}`));
    const results = await database.query([...texts, ...texts]);
    expect(results.map((result) => result.rows[0]![0])).toEqual([...texts.keys(), ...texts.keys()]);
  });

  it("runs a statement of one row again that has failed, and one that has found none", async () => {
    const extract = (path: string) => ({
      ...sql("SELECT json_extract('{}', ?) AS value", path),
      single: "row" as const,
    });
    await expect(database.query([extract("no path")])).rejects.toBeInstanceOf(StatementError);
    expect((await database.query([extract("$.a")]))[0]!.rows).toEqual([[null]]);
    const find = (id: bigint) => ({ ...sql("SELECT id FROM item WHERE id = ?", id), single: "row" as const });
    expect((await database.query([find(1n)]))[0]!.rows).toEqual([]);
    await insert(1);
    expect((await database.query([find(1n), find(2n)])).map(({ rows }) => rows)).toEqual([[[1]], []]);
  });

  it("does not let a query write", async () => {
    await expect(database.query([sql("INSERT INTO item VALUES (1, NULL)")])).rejects.toThrow(/queried/);
    expect(await ids()).toEqual([]);
  });

  describe("when another connection holds the write lock", () => {
    let other: Libsql.Database;

    /** Time stands still but where a test says how much of it passes. */
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ["performance"] });
      other = new Libsql(path);
      other.exec("BEGIN IMMEDIATE");
    });

    afterEach(() => {
      vi.useRealTimers();
      other.close();
    });

    it("fails after four seconds, goes on reading meanwhile, and recovers", async () => {
      const begins = vi.spyOn(Libsql.prototype, "exec");
      onTestFinished(() => begins.mockRestore());
      /** Until the write lock has been asked for that often more. */
      const attempts = async (howMany: number) => {
        const count = () => begins.mock.calls.filter(([text]) => text.startsWith("BEGIN")).length;
        const enough = count() + howMany;
        while (count() < enough) await nextTurn();
      };
      let left = 3;
      const writes = [insert(1), insert(2), database.migrate([sql("DROP TABLE item")])].map((write) =>
        write.finally(() => left--),
      );
      const ended = Promise.allSettled(writes);
      expect(await ids()).toEqual([]);
      await attempts(1);
      vi.advanceTimersByTime(3_999);
      await attempts(2);
      expect(left).toBe(3);
      vi.advanceTimersByTime(1);
      for (const outcome of await ended) {
        expect(outcome).toMatchObject({ status: "rejected", reason: expect.any(UnavailableError) });
      }
      other.exec("INSERT INTO item VALUES (9, NULL); COMMIT");
      await insert(3);
      expect(await ids()).toEqual([3, 9]);
    });

    it("waits for it without blocking the event loop", async () => {
      const writes = [insert(1), database.migrate([sql("CREATE TABLE made (id INTEGER)")]), insert(2)];
      expect(await ids()).toEqual([]);
      other.exec("COMMIT");
      await Promise.all(writes);
      expect(await ids()).toEqual([1, 2]);
      expect(await pragma("foreign_keys")).toBe(1);
    });
  });

  describe("when the disk is full", () => {
    beforeEach(async () => {
      await insert(1);
      const pages = await pragma("page_count");
      await database.batch([sql(`PRAGMA max_page_count=${Number(pages) + 4}`)]);
    });

    it("fails the batch that found it full, keeps the others, and recovers", async () => {
      const outcomes = await Promise.allSettled([insert(2), insert(3, 100_000), insert(4), insert(4), insert(5)]);
      expect(outcomes.map((outcome) => outcome.status)).toEqual([
        "fulfilled",
        "rejected",
        "fulfilled",
        "rejected",
        "fulfilled",
      ]);
      expect(outcomes[1]).toMatchObject({ reason: expect.any(UnavailableError) });
      expect(outcomes[3]).toMatchObject({ reason: { kind: "unique" } });
      expect(await ids()).toEqual([1, 2, 4, 5]);

      await database.batch([sql("PRAGMA max_page_count=10000")]);
      await insert(3, 100_000);
      expect(await ids()).toEqual([1, 2, 3, 4, 5]);
    });

    it("fails a single batch, and a migration, and keeps nothing of them", async () => {
      await expect(
        database.batch([
          sql("INSERT INTO item VALUES (2, NULL)"),
          sql("INSERT INTO item VALUES (3, zeroblob(100000))"),
        ]),
      ).rejects.toThrow(UnavailableError);
      await expect(
        database.migrate([sql("CREATE TABLE copy AS SELECT zeroblob(100000)"), sql("DROP TABLE item")]),
      ).rejects.toThrow(UnavailableError);
      expect(await ids()).toEqual([1]);
      expect(await pragma("foreign_keys")).toBe(1);
    });
  });

  describe("close", () => {
    it("waits for the batches that are queued", async () => {
      const writes = Promise.all([insert(1), insert(2)]);
      await database.close();
      await writes;
      database = open();
      expect(await ids()).toEqual([1, 2]);
    });

    it("leaves an empty write-ahead log", async () => {
      await insert(1, 50_000);
      expect((await stat(`${path}-wal`)).size).toBeGreaterThan(0);
      await database.close();
      const leftBytes = await stat(`${path}-wal`).then(
        ({ size }) => size,
        () => 0,
      );
      expect(leftBytes).toBe(0);
    });

    it("refuses everything after it, and can be repeated", async () => {
      await database.close();
      await database.close();
      await expect(insert(1)).rejects.toThrow(UnavailableError);
      await expect(ids()).rejects.toThrow(UnavailableError);
      await expect(database.migrate([])).rejects.toThrow(UnavailableError);
    });
  });

  describe("settings", () => {
    it("serves with WAL, foreign keys and no wait inside SQLite", async () => {
      expect(await pragma("journal_mode")).toBe("wal");
      expect(await pragma("foreign_keys")).toBe(1);
      expect(await pragma("busy_timeout")).toBe(0);
      expect(await pragma("synchronous")).toBe(2);
    });

    it("waits inside SQLite and never checkpoints for a command", async () => {
      const command = open({ commandLine: true, synchronous: "normal" });
      expect(await pragma("busy_timeout", command)).toBe(5000);
      expect(await pragma("wal_autocheckpoint", command)).toBe(0);
      expect(await pragma("synchronous", command)).toBe(1);
      await command.batch([sql("INSERT INTO item VALUES (1, NULL)")]);
      await command.close();
      expect(await ids()).toEqual([1]);
    });

    it.each(["a file that is not a database", "a folder"])("does not open %s", async (what) => {
      const junk = join(folder, "junk.db");
      await writeFile(junk, "not a database ".repeat(1000));
      expect(() => open({ path: what === "a folder" ? folder : junk })).toThrow(UnavailableError);
    });
  });
});

function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), "libsql-"));
}

function sql(text: string, ...params: SqlValue[]): Statement {
  return { sql: text, params };
}
