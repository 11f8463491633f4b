import { cpSync, mkdtempSync, rmSync } from "node:fs";
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
  expect(journal.sum(read("early"))).toBe(false);
  await fill();
  expect(journal.sum(receipt("ada"))).toBe(false);
  expect(journal.sum(read("a"))).toBe(true);
  expect(journal.sum(read("b", 119_999, null))).toBe(true);
  await journal.append({ receipts: [receipt("ada", { atMs: 60_000 })], gaps: [] });
  await journal.collect();
  expect(journal.sum(read("c", 120_000))).toBe(true);
  await journal.close();
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

it("writes what is summed as one line, which whoever reads the files finds as it is stored", async () => {
  const { database, directory, journal, fill } = await opened();
  await fill();
  for (let i = 0; i < 700; i++) journal.sum(read(`${1000 + i}`));
  await journal.append({ receipts: [], gaps: [] });
  const { receipts } = await readJournals(directory);
  expect(receipts.map(({ attemptId, sum }) => [attemptId, sum!.requests])).toEqual([["1000", 700]]);
  await journal.close();
  expect((await stored(database)).slice(10)).toEqual([
    ["1000", 60_000, "anonymous", null, "GET", "notes", "list", 200, 2100, 0, 1400, [700, 0]],
  ]);
});

it("leaves a gap for what was not written yet where the process dies", async () => {
  const { database, directory, folder, options, journal, fill } = await opened();
  await fill();
  for (let i = 0; i < 1_200; i++) journal.sum(read(`${1000 + i}`));
  const copy = join(folder, "after the crash");
  cpSync(directory, copy, { recursive: true });
  const { receipts, gaps } = await recoverJournals({ ...options, directory: copy });
  const found = (await stored(database)).slice(10) as [string, ...unknown[]][];
  const written = found.map((values) => (values[11] as [number, number])[0]).reduce((a, b) => a + b, 0);
  expect(receipts).toBeGreaterThan(0);
  // At most half a block waits in memory.
  expect(written).toBeGreaterThanOrEqual(700);
  expect(gaps.length).toBe(1);
  expect(written + gaps[0]!.attemptsMax!).toBeGreaterThanOrEqual(1_200);
  expect(gaps[0]!.attemptsMax).toBeLessThanOrEqual(2_000);
  await journal.close();
});

it("keeps what could not be written, and writes it once it can", async () => {
  const { database, directory, clock, journal, fill } = await opened();
  await fill();
  journal.sum(read("a"));
  rmSync(directory, { recursive: true });
  await expect(journal.append(entry("lost"))).rejects.toThrow();
  expect(journal.sum(read("b"))).toBe(false);
  clock.advance(1_000);
  await journal.append(entry("z"));
  await journal.close();
  const others = (await stored(database)).filter((values) => !String((values as unknown[])[0]).startsWith("filling"));
  expect(others).toEqual([
    ["z", 1, "user", "ada", "GET", "notes", "list", 200, null, 0, 2],
    ["a", 60_000, "anonymous", null, "GET", "notes", "list", 200, 3, 0, 2, [1, 0]],
  ]);
});
