import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { databaseJournal, storeEntries } from "../../src/metering/database-journal.js";
import { openLibsql } from "../../src/node/database/libsql.js";
import { FileJournal } from "../../src/node/journal/journal.js";
import { endLine, entryLine, readSegment, reservedLine } from "../../src/node/journal/journal-format.js";
import { readJournals, recoverJournals } from "../../src/node/journal/recover.js";
import { systemClock, systemRandom } from "../../src/node/system.js";
import type { Database } from "../../src/platform/database.js";
import type { Journal, JournalEntry } from "../../src/platform/journal.js";
import { bringUpSystemTables } from "../../src/schema/system/bring-up.js";
import { entry, receiptRows } from "../support/receipts.js";

/** Whole, of another release. */
const unknownLine = ((text: string) => `${crc32(text).toString(16).padStart(8, "0")} ${text}\n`)(
  JSON.stringify({ seq: 1, other: [] }),
);

async function storage(): Promise<Database> {
  const database = openLibsql({ path: ":memory:", synchronous: "normal" });
  onTestFinished(() => database.close());
  await bringUpSystemTables(database, 0);
  return database;
}

async function attemptsIn(database: Database): Promise<readonly unknown[]> {
  const [found] = await database.query([
    { sql: `SELECT attempt_id FROM ${receiptRows} ORDER BY attempt_id`, params: [] },
  ]);
  return found!.rows.map(([id]) => id);
}

/** By the sums of their days. */
async function requestsIn(database: Database): Promise<unknown> {
  const [found] = await database.query([{ sql: "SELECT sum(requests) FROM _usage_days", params: [] }]);
  return found!.rows[0]![0];
}

async function gapsIn(database: Database): Promise<readonly unknown[]> {
  const [found] = await database.query([
    { sql: "SELECT reason, attempts_max FROM _usage_gaps ORDER BY id", params: [] },
  ]);
  return found!.rows;
}

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "svc-journal-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, "usage");
}

function optionsOf(directory: string, database: Database) {
  return {
    directory,
    store: (given: JournalEntry) => storeEntries(database, [given]),
    clock: systemClock,
    random: systemRandom,
  };
}

describe.each<[string, (database: Database) => Journal]>([
  ["the database", (database) => databaseJournal(database)],
  ["files", (database) => new FileJournal(optionsOf(temporary(), database))],
])("Journal contract: %s", (_, open) => {
  it("gives each attempt to what exports it once, and counts it once", async () => {
    const database = await storage();
    const journal = open(database);
    const ids = Array.from({ length: 2_500 }, (__, n) => String(n).padStart(5, "0"));
    await Promise.all(ids.map((id) => journal.append(entry(id))));
    await journal.append({ receipts: [], gaps: [{ id: "g", atMs: 1, reason: "overflow", attemptsMax: 7 }] });
    await journal.collect();
    await Promise.all([journal.collect(), journal.append(entry("last")), journal.collect()]);
    await journal.close();
    expect(await attemptsIn(database)).toEqual([...ids, "last"]);
    expect(await gapsIn(database)).toEqual([["overflow", 7]]);
    const [row] = await database.query([{ sql: `SELECT * FROM ${receiptRows} WHERE attempt_id = 'last'`, params: [] }]);
    expect(row!.rows).toEqual([["last", 1, "user", "ada", "GET", "notes", "list", 200, null, 0, 2]]);
    expect(await requestsIn(database)).toBe(2_501);
  });
});

describe("the database as a journal", () => {
  it("keeps what it took without a word once, however it comes again", async () => {
    const database = await storage();
    const journal = databaseJournal(database);
    await journal.append(entry("b", "a"));
    await journal.append(entry("c", "a", "b"));
    await journal.append(entry("a"));
    expect(await attemptsIn(database)).toEqual(["a", "b", "c"]);
    expect(await requestsIn(database)).toBe(3);
  });
});

describe("a journal of files", () => {
  it("leaves nothing behind when it ends, and no gap", async () => {
    const database = await storage();
    const directory = temporary();
    const journal = new FileJournal(optionsOf(directory, database));
    await journal.append(entry("a"));
    expect((await readJournals(directory)).receipts.map(({ attemptId }) => attemptId)).toEqual(["a"]);
    await journal.close();
    expect(readdirSync(directory)).toEqual([]);
    expect(await attemptsIn(database)).toEqual(["a"]);
    expect(await recoverJournals(optionsOf(directory, database))).toEqual({ receipts: 0, gaps: [] });
    expect(await gapsIn(database)).toEqual([]);
  });

  it("refuses what comes once it is closed, and loses nothing that came before", async () => {
    const database = await storage();
    const directory = temporary();
    let stored = () => {};
    const slow = new Promise<void>((resolve) => {
      stored = resolve;
    });
    const journal = new FileJournal({
      ...optionsOf(directory, database),
      store: async (given) => {
        await slow;
        await storeEntries(database, [given]);
      },
    });
    await journal.append(entry("a"));
    const closed = journal.close();
    await expect(journal.append(entry("b"))).rejects.toThrow("closed");
    stored();
    await closed;
    await expect(journal.append(entry("c"))).rejects.toThrow("closed");
    expect(await attemptsIn(database)).toEqual(["a"]);
    expect(readdirSync(directory)).toEqual([]);
  });

  it("may be recovered by several at once", async () => {
    const database = await storage();
    const directory = temporary();
    for (const [n, gone] of ["one", "two", "three"].entries()) {
      const left = join(directory, `000000000000000${n}`);
      mkdirSync(left, { recursive: true });
      const lines = [reservedLine(1, 11), entryLine(1, entry(gone)), endLine(2)];
      writeFileSync(join(left, "00000001.log"), lines.join(""));
    }
    await Promise.all(Array.from({ length: 8 }, () => recoverJournals(optionsOf(directory, database))));
    expect(await attemptsIn(database)).toEqual(["one", "three", "two"]);
    expect(await gapsIn(database)).toEqual([]);
    expect(readdirSync(directory)).toEqual([]);
  });

  it("of another process that runs is left alone", async () => {
    const database = await storage();
    const directory = temporary();
    const running = new FileJournal(optionsOf(directory, database));
    await running.append(entry("a"));
    expect(await recoverJournals(optionsOf(directory, database))).toEqual({ receipts: 0, gaps: [] });
    expect(await attemptsIn(database)).toEqual([]);
    await running.close();
  });

  it("of a process that is gone is read back, torn ends cut, and what is missing is a gap", async () => {
    const database = await storage();
    const directory = temporary();
    const gone = "0123456789abcdef";
    mkdirSync(join(directory, gone), { recursive: true });
    const lines = [reservedLine(1, 1001), entryLine(1, entry("a", "b"))];
    writeFileSync(join(directory, gone, "00000001.log"), lines.join("") + entryLine(3, entry("c")).slice(0, 40));
    const recovered = await recoverJournals(optionsOf(directory, database));
    expect(recovered).toEqual({
      receipts: 2,
      gaps: [{ id: `${gone}/00000001.log`, atMs: expect.any(Number), reason: "crash", attemptsMax: 998 }],
    });
    expect(await attemptsIn(database)).toEqual(["a", "b"]);
    expect(await gapsIn(database)).toEqual([["crash", 998]]);
    expect(readdirSync(directory)).toEqual([]);
  });

  it("shares its directory: what is not exactly a journal is neither read, changed nor removed", async () => {
    const database = await storage();
    const directory = temporary();
    const segment = [reservedLine(1, 11), entryLine(1, entry("a")), endLine(2)].join("");
    const others = [
      ".svc/data.db",
      ".svc/usage/0123456789abcdef/00000001.log",
      "src/00000001.log",
      "0123456789ABCDEF/00000001.log",
      "0123456789abcdef0/00000001.log",
      "0000000000000001/00000001.log/notes.txt",
      "0000000000000002/00000001.log",
      "0000000000000002/notes.txt",
      "0000000000000003/lock.db-old",
      "00000001.log",
      "lock.db",
    ];
    for (const path of others) {
      mkdirSync(join(directory, path, ".."), { recursive: true });
      writeFileSync(join(directory, path), segment);
    }
    mkdirSync(join(directory, "empty"));
    symlinkSync(join(directory, "src"), join(directory, "0000000000000004"));
    const before = readdirSync(directory, { recursive: true }).sort();
    const journal = new FileJournal(optionsOf(directory, database));
    journal.open();
    expect(await recoverJournals(optionsOf(directory, database))).toEqual({ receipts: 0, gaps: [] });
    expect(await readJournals(directory)).toEqual({ receipts: [], gaps: [] });
    await journal.append(entry("b"));
    await journal.close();
    expect(readdirSync(directory, { recursive: true }).sort()).toEqual(before);
    for (const path of others) expect(readFileSync(join(directory, path), "utf8"), path).toBe(segment);
    expect(await attemptsIn(database)).toEqual(["b"]);
  });

  it("keeps what the database does not take, for the next start", async () => {
    const database = await storage();
    const directory = temporary();
    let works = false;
    const journal = new FileJournal({
      ...optionsOf(directory, database),
      store: async (given) => {
        if (!works) throw new Error("locked");
        await storeEntries(database, [given]);
      },
    });
    await journal.append(entry("a"));
    await expect(journal.collect()).rejects.toThrow("locked");
    await journal.append(entry("b"));
    await journal.close();
    works = true;
    expect(await recoverJournals(optionsOf(directory, database))).toEqual({ receipts: 2, gaps: [] });
    expect(await attemptsIn(database)).toEqual(["a", "b"]);
  });

  it("is stored once, where storing it breaks down in the middle, again and again", async () => {
    const database = await storage();
    const directory = temporary();
    let left = 0;
    const options = {
      ...optionsOf(directory, database),
      store: async (given: JournalEntry) => {
        if (left-- === 0) throw new Error("locked");
        await storeEntries(database, [given]);
      },
    };
    const journal = new FileJournal(options);
    const ids = Array.from({ length: 1_500 }, (__, n) => String(n).padStart(5, "0"));
    for (const id of ids) await journal.append(entry(id));
    let failures = 0;
    for (let pieces = 0; ; pieces++) {
      left = pieces;
      const failed = await journal.collect().then(
        () => false,
        () => true,
      );
      if (!failed) break;
      failures++;
    }
    expect(failures).toBeGreaterThan(3);
    await journal.close();
    expect(await attemptsIn(database)).toEqual(ids);
    expect(await requestsIn(database)).toBe(ids.length);
    expect(await gapsIn(database)).toEqual([]);
  });

  it.each<[string, (directory: string) => () => void]>([
    [
      "replaced by a file",
      (directory) => {
        rmSync(directory, { recursive: true });
        writeFileSync(directory, "");
        return () => rmSync(directory);
      },
    ],
    [
      "removed, and its parent not writable",
      (directory) => {
        const parent = join(directory, "..");
        rmSync(directory, { recursive: true });
        renameSync(parent, `${parent}-away`);
        writeFileSync(parent, "");
        return () => {
          rmSync(parent);
          renameSync(`${parent}-away`, parent);
        };
      },
    ],
  ])("whose directory is %s refuses, and goes on once that is over", async (__, breakIt) => {
    const database = await storage();
    const directory = temporary();
    let elapsed = 0;
    const clock = { now: () => 1, elapsed: () => elapsed, cpu: () => elapsed };
    const journal = new FileJournal({ ...optionsOf(directory, database), clock });
    await journal.append(entry("a"));
    await journal.collect();
    await journal.append(entry("b"));
    await journal.collect();
    const mend = breakIt(directory);
    await expect(journal.append(entry("c"))).rejects.toThrow();
    await expect(journal.append(entry("c"))).rejects.toThrow();
    mend();
    elapsed += 1_000;
    await journal.append(entry("c"));
    await journal.append(entry("d"));
    await journal.close();
    expect(await attemptsIn(database)).toEqual(["a", "b", "c", "d"]);
    expect(await gapsIn(database)).toEqual([]);
  });

  it.skipIf(process.getuid?.() === 0)(
    "that may not be written refuses, and goes on once it may (not as root)",
    async () => {
      const database = await storage();
      const directory = temporary();
      mkdirSync(directory);
      chmodSync(directory, 0o500);
      let elapsed = 0;
      const journal = new FileJournal({
        ...optionsOf(directory, database),
        clock: { now: () => 1, elapsed: () => elapsed, cpu: () => elapsed },
      });
      await expect(journal.append(entry("a"))).rejects.toThrow();
      chmodSync(directory, 0o700);
      elapsed += 1_000;
      await journal.append(entry("a"));
      await journal.close();
      expect(await attemptsIn(database)).toEqual(["a"]);
    },
  );

  it("takes a line that was not written whole for none", () => {
    const text = reservedLine(1, 11) + entryLine(1, entry("a", "b"));
    const reservedLength = reservedLine(1, 11).length;
    for (let length = 0; length < text.length; length++) {
      const { receipts, missing } = readSegment(text.slice(0, length));
      expect(receipts).toEqual([]);
      expect(missing).toBe(length < reservedLength ? 0 : 10);
    }
    expect(readSegment(text).receipts.map(({ attemptId }) => attemptId)).toEqual(["a", "b"]);
    expect(readSegment(text.replace("ada", "eve")).receipts).toEqual([]);
  });

  it("skips a line that it does not know", () => {
    const { receipts, missing } = readSegment(reservedLine(1, 11) + unknownLine + entryLine(2, entry("b")));
    expect(receipts.map(({ attemptId }) => attemptId)).toEqual(["b"]);
    expect(missing).toBe(9);
  });
});
