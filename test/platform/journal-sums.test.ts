import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { storeEntries } from "../../src/metering/database-journal.js";
import { entryBytes, sumUsage } from "../../src/metering/store.js";
import { openLibsql } from "../../src/node/database/libsql.js";
import { FileJournal } from "../../src/node/journal/journal.js";
import { readJournals, recoverJournals } from "../../src/node/journal/recover.js";
import { systemRandom } from "../../src/node/system.js";
import { type Database, statement } from "../../src/platform/database.js";
import type { JournalEntry } from "../../src/platform/journal.js";
import { ask, rowsOf } from "../../src/platform/query.js";
import { bringUpSystemTables } from "../../src/schema/system/bring-up.js";
import { ManualClock } from "../support/manual-clock.js";
import { entry, receipt } from "../support/receipts.js";

const read = (attemptId: string, atMs = 60_000, rowsRead: number | null = 3) =>
  receipt(attemptId, { principalKind: "anonymous", principalId: null, atMs, rowsRead });

const stored = (database: Database) =>
  ask(
    database,
    rowsOf(
      statement("SELECT value AS receipt FROM _usage_entries, json_each(receipts) ORDER BY value ->> 1, value ->> 0"),
      ([text]) => JSON.parse(text as string) as unknown,
    ),
  );

/** A journal that sums from 675 bytes on, after its first look at what is stored. */
async function opened() {
  const database = openLibsql({ path: ":memory:", synchronous: "normal" });
  onTestFinished(() => database.close());
  await bringUpSystemTables(database, 0);
  const folder = mkdtempSync(join(tmpdir(), "svc-journal-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const directory = join(folder, "usage");
  const clock = new ManualClock();
  const options = {
    directory,
    store: (given: JournalEntry) => storeEntries(database, [given]),
    clock,
    random: systemRandom,
    bound: { bytesMax: 900, storedBytes: () => ask(database, entryBytes()) },
  };
  const journal = new FileJournal(options);
  journal.open();
  const fill = async () => {
    await journal.append(entry(...Array.from({ length: 10 }, (_, i) => `filling${i}`)));
    await journal.collect();
  };
  return { database, directory, folder, clock, options, journal, fill };
}

it("sums anonymous reads once it is full, and nothing before or else", async () => {
  const { database, journal, fill } = await opened();
  expect(journal.sum(read("early"))).toBeNull();
  await fill();
  expect(journal.sum(receipt("ada"))).toBeNull();
  await Promise.all([journal.sum(read("a")), journal.sum(read("b", 119_999, null))]);
  await journal.append({ receipts: [receipt("ada", { atMs: 60_000 })], gaps: [] });
  await journal.collect();
  const last = journal.sum(read("c", 120_000));
  await journal.close();
  await last;
  expect((await stored(database)).slice(10)).toEqual([
    ["a", 60_000, "anonymous", null, "GET", "notes", "list", 200, 3, 0, 4, [2, 1]],
    ["ada", 60_000, "user", "ada", "GET", "notes", "list", 200, null, 0, 2],
    ["c", 120_000, "anonymous", null, "GET", "notes", "list", 200, 3, 0, 2, [1, 0]],
  ]);
  const totals = async (fromMs: number, toMs: number) =>
    (await ask(database, sumUsage({ fromMs, toMs }, "principal"))).map(Object.values);
  const day = [
    ["anonymous", 3, 6, 0, 6, 1],
    ["user:ada", 11, 0, 0, 22, 11],
  ];
  expect(await totals(0, 86_400_000)).toEqual(day);
  // A part of the day is summed from the receipts.
  const part = [
    ["anonymous", 2, 3, 0, 4, 1],
    ["user:ada", 1, 0, 0, 2, 1],
  ];
  expect(await totals(60_000, 120_000)).toEqual(part);
});

/** Sums so many reads, a few in each turn of the event loop, and waits until they are written. */
async function sumReads(journal: FileJournal, count: number) {
  for (let i = 0; i < count; i += 7)
    await Promise.all(
      Array.from({ length: Math.min(7, count - i) }, (_, j) => {
        const written = journal.sum(read(`${1000 + i + j}`));
        expect(written).not.toBeNull();
        return written;
      }),
    );
}

/** The lines of all segments that hold receipts. */
function receiptLines(directory: string): number {
  const files = readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".log"));
  const lines = files.flatMap((name) => readFileSync(join(directory, name), "utf8").split("\n"));
  return lines.filter((line) => line.includes('"receipts":')).length;
}

it("replaces the line of sums that it writes anew, which whoever reads the files finds as it is stored", async () => {
  const { database, directory, journal, fill } = await opened();
  await fill();
  await sumReads(journal, 350);
  await journal.append(entry("between"));
  await sumReads(journal, 350);
  const { receipts } = await readJournals(directory);
  const found = receipts.map(({ attemptId, sum }) => [attemptId, sum?.requests]);
  expect(found).toEqual([
    ["between", undefined],
    ["1000", 700],
  ]);
  // One before the entry, one behind it, and one behind the next reservation of sequence numbers.
  expect(receiptLines(directory)).toBeLessThanOrEqual(5);
  await journal.close();
  expect((await stored(database)).slice(11)).toEqual([
    ["1000", 60_000, "anonymous", null, "GET", "notes", "list", 200, 2100, 0, 1400, [700, 0]],
  ]);
});

it("begins another line where there are many different sums", async () => {
  const { database, journal, fill } = await opened();
  await fill();
  for (let minute = 0; minute < 60; minute++) await journal.sum(read(`${1000 + minute}`, minute * 60_000));
  await journal.close();
  const summed = (await stored(database)).filter((values) => (values as unknown[])[11] !== undefined);
  expect(summed.map((values) => (values as unknown[])[1])).toEqual(Array.from({ length: 60 }, (_, i) => i * 60_000));
});

it("keeps every sum that is written where the process dies, and leaves a bounded gap", async () => {
  const { database, directory, folder, options, journal, fill } = await opened();
  await fill();
  await sumReads(journal, 1_200);
  const copy = join(folder, "after the crash");
  cpSync(directory, copy, { recursive: true });
  const { gaps } = await recoverJournals({ ...options, directory: copy });
  const found = (await stored(database)).slice(10) as [string, ...unknown[]][];
  const written = found.map((values) => (values[11] as [number, number])[0]).reduce((a, b) => a + b, 0);
  expect(written).toBe(1_200);
  expect(gaps.length).toBe(1);
  expect(gaps[0]!.attemptsMax).toBeLessThanOrEqual(2_000);
  await journal.close();
});

it("refuses what could not be written, and nothing of it is stored", async () => {
  const { database, directory, clock, journal, fill } = await opened();
  await fill();
  rmSync(directory, { recursive: true });
  await expect(journal.sum(read("a"))).rejects.toThrow();
  expect(journal.sum(read("b"))).toBeNull();
  clock.advance(1_000);
  await journal.append(entry("z"));
  await journal.close();
  const others = (await stored(database)).filter((values) => !String((values as unknown[])[0]).startsWith("filling"));
  expect(others).toEqual([["z", 1, "user", "ada", "GET", "notes", "list", 200, null, 0, 2]]);
});
