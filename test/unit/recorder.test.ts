import { expect, it } from "vitest";
import { createRecorder } from "../../src/metering/recorder.js";
import { systemRandom } from "../../src/node/system.js";
import type { JournalEntry, Receipt } from "../../src/platform/journal.js";
import type { Platform } from "../../src/platform/platform.js";
import { ManualClock } from "../support/manual-clock.js";
import { MemoryLog } from "../support/server.js";
import { SwitchableJournal } from "../support/switchable-journal.js";

const receipt = (attemptId: string): Receipt => ({
  attemptId,
  atMs: 0,
  principalKind: "anonymous",
  principalId: null,
  method: "GET",
  table: "notes",
  action: "list",
  status: 200,
  rowsRead: 1,
  rowsWritten: 0,
  rowsReturned: 1,
});

const recorded = { status: "recorded", isSummed: false };
const unrecorded = { status: "unrecorded", isSummed: false };

/** Takes every statement. */
const database = { batch: async () => [] } as unknown as Platform["database"];

it("counts what finds no place any more, and says so as a gap", async () => {
  const journal = new SwitchableJournal(false);
  const clock = new ManualClock();
  const recorder = createRecorder(journal, { database, clock, random: systemRandom, log: new MemoryLog() }, 2);
  for (const id of ["a", "b", "c", "d", "e"]) expect(await recorder.record(receipt(id))).toEqual(unrecorded);
  expect(recorder.state()).toEqual({ waiting: 2, lost: 3, available: false });
  await recorder.retry();
  expect(recorder.state()).toEqual({ waiting: 2, lost: 3, available: false });
  journal.works = true;
  await recorder.retry();
  await recorder.retry();
  expect(recorder.state()).toEqual({ waiting: 0, lost: 3, available: true });
  expect(journal.entries).toEqual([
    {
      receipts: [receipt("a"), receipt("b")],
      gaps: [{ id: expect.any(String), atMs: clock.now(), reason: "overflow", attemptsMax: 3 }],
    },
  ]);
});

it("brings what waits along with the next receipt, and at the end to whoever takes it", async () => {
  const journal = new SwitchableJournal(false);
  const services = { database, clock: new ManualClock(), random: systemRandom, log: new MemoryLog() };
  const recorder = createRecorder(journal, services);
  expect(await recorder.record(receipt("a"))).toEqual(unrecorded);
  journal.works = true;
  expect(await recorder.record(receipt("b"))).toEqual(recorded);
  expect(journal.entries.map(({ receipts }) => receipts.map(({ attemptId }) => attemptId))).toEqual([["b", "a"]]);
  journal.works = false;
  expect(await recorder.record(receipt("c"))).toEqual(unrecorded);
  const otherwise: JournalEntry[] = [];
  await recorder.finish({ append: async (entry) => void otherwise.push(entry) });
  expect(otherwise).toEqual([{ receipts: [receipt("c")], gaps: [] }]);
  expect(recorder.state().waiting).toBe(0);
});
