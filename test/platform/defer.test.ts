import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { deferTo } from "../../src/node/system.js";
import { MemoryLog } from "../support/server.js";

const clock = { now: () => Date.now(), elapsed: () => Date.now(), cpu: () => Date.now() };
const second = Date.UTC(2026, 0, 1);

beforeEach(() => {
  vi.useFakeTimers({ now: second + 300 });
});
afterEach(() => {
  vi.useRealTimers();
});

it("begins work at the next full second of the clock, whenever it was handed over, and the same work once", async () => {
  const begun: [string, number][] = [];
  const works = Object.fromEntries(
    ["mail", "other"].map((name) => [name, async () => void begun.push([name, Date.now() - second])]),
  );
  const defer = deferTo(new MemoryLog(), clock);
  defer(works.mail!);
  await vi.advanceTimersByTimeAsync(400);
  defer(works.other!);
  defer(works.mail!);
  await vi.advanceTimersByTimeAsync(299);
  expect(begun).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  const atFirst = [
    ["mail", 1000],
    ["other", 1000],
  ];
  expect(begun).toEqual(atFirst);
  // What is handed over at a tick waits for the one after it.
  defer(works.mail!);
  await vi.advanceTimersByTimeAsync(999);
  expect(begun).toEqual(atFirst);
  await vi.advanceTimersByTimeAsync(1);
  expect(begun).toEqual([...atFirst, ["mail", 2000]]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(begun).toHaveLength(3);
});

it("logs work that fails, and does what comes after", async () => {
  const log = new MemoryLog();
  const defer = deferTo(log, clock);
  const done: string[] = [];
  defer(() => Promise.reject(new Error("away")));
  defer(async () => void done.push("after"));
  await vi.advanceTimersByTimeAsync(700);
  expect(done).toEqual(["after"]);
  expect(log.lines).toEqual([expect.stringMatching(/deferred work failed.*away/)]);
});
