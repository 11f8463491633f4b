import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { FileJournal } from "../../src/node/journal/journal.js";
import { readJournals } from "../../src/node/journal/recover.js";
import { systemClock, systemRandom } from "../../src/node/system.js";
import { entry, receipt } from "../support/receipts.js";

const disk = vi.hoisted(() => ({ full: false, broken: false }));

vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  return {
    ...fs,
    fsyncSync: (file: number) => {
      if (disk.broken) throw new Error("input/output error");
      fs.fsyncSync(file);
    },
    /** As a disk that is filled up takes it: the first half, and then nothing. */
    writeSync: (file: number, bytes: Buffer, from: number) => {
      if (disk.full && from > 0) throw new Error("no space left on device");
      return fs.writeSync(file, bytes, from, disk.full ? Math.ceil((bytes.length - from) / 2) : undefined);
    },
  };
});

function open() {
  const directory = mkdtempSync(join(tmpdir(), "svc-journal-"));
  const stored: string[] = [];
  const time = { elapsed: 0 };
  const journal = new FileJournal({
    directory,
    store: async ({ receipts }) => {
      stored.push(...receipts.map(({ attemptId }) => attemptId));
    },
    clock: { ...systemClock, elapsed: () => time.elapsed },
    random: systemRandom,
  });
  onTestFinished(async () => {
    Object.assign(disk, { full: false, broken: false });
    await journal.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return { directory, journal, stored, time };
}

it("what a full disk took half of is not in the journal, and may come again", async () => {
  const { directory, journal, stored, time } = open();
  await journal.append(entry("a"));
  disk.full = true;
  await expect(journal.append(entry("b"))).rejects.toThrow("no space");
  expect((await readJournals(directory)).receipts.map(({ attemptId }) => attemptId)).toEqual(["a"]);
  disk.full = false;
  time.elapsed += 1_000;
  await journal.append(entry("c", "b"));
  await journal.collect();
  expect(stored.toSorted()).toEqual(["a", "b", "c"]);
});

it("what a full disk took half of is no receipt, where a gap comes with it", async () => {
  const { journal, stored, time } = open();
  await journal.append(entry("a"));
  disk.full = true;
  const gaps = [{ id: "g".repeat(200), atMs: 1, reason: "overflow", attemptsMax: 7 }] as const;
  await expect(journal.append({ ...entry("b"), gaps })).rejects.toThrow("no space");
  disk.full = false;
  time.elapsed += 1_000;
  await journal.append({ ...entry("b"), gaps });
  await journal.collect();
  expect(stored).toEqual(["a", "b"]);
});

it("what is written is not refused because the disk fails afterwards", async () => {
  const { journal, stored } = open();
  await journal.append(entry("a"));
  disk.broken = true;
  // So large that its segment ends with it.
  await journal.append({ receipts: [receipt("b", { table: "x".repeat(600_000) })], gaps: [] });
  disk.broken = false;
  await journal.append(entry("c"));
  await journal.collect();
  expect(stored).toEqual(["a", "b", "c"]);
});
