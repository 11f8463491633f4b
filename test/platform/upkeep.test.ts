import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { startUpkeep, type UpkeepWork } from "../../src/node/server/upkeep.js";
import { MemoryLog } from "../support/server.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function work(changes: Partial<UpkeepWork> = {}) {
  const done: string[] = [];
  const noted = (what: string) => async () => void done.push(what);
  const names = ["resumeMail", "deliverMail", "purge", "collectUsage", "finish"] as const;
  const all = Object.fromEntries(names.map((name) => [name, noted(name)])) as unknown as UpkeepWork;
  return { done, work: { ...all, ...changes } };
}

it("resumes and purges at start, delivers every 5 seconds, collects every 15, purges every minute, and stops", async () => {
  const { done, work: all } = work();
  const upkeep = startUpkeep(() => all, new MemoryLog());
  expect(done).toEqual(["resumeMail", "purge"]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(done.filter((what) => what === "deliverMail")).toHaveLength(12);
  expect(done.filter((what) => what === "collectUsage")).toHaveLength(4);
  expect(done.filter((what) => what === "purge")).toHaveLength(2);
  const before = done.length;
  await upkeep.stop(10_000);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(done.slice(before)).toEqual(["finish"]);
});

it("logs a failure that goes on once, and goes on itself", async () => {
  const log = new MemoryLog();
  const { work: failing } = work({ deliverMail: () => Promise.reject(new Error("away")) });
  const upkeep = startUpkeep(() => failing, log);
  await vi.advanceTimersByTimeAsync(50_000);
  expect(log.lines).toEqual([expect.stringContaining("away")]);
  await upkeep.stop(0);
});

it("waits for what is being done, and no longer than it is told", async () => {
  let finish = () => {};
  const { work: all } = work({
    finish: () =>
      new Promise((resolve) => {
        finish = resolve;
      }),
  });
  let stopped = false;
  const first = startUpkeep(() => all, new MemoryLog());
  void first.stop(10_000).then(() => {
    stopped = true;
  });
  await vi.advanceTimersByTimeAsync(9_999);
  expect(stopped).toBe(false);
  finish();
  await vi.advanceTimersByTimeAsync(0);
  expect(stopped).toBe(true);
  const second = startUpkeep(() => all, new MemoryLog()).stop(10_000);
  await vi.advanceTimersByTimeAsync(10_000);
  await second;
});
