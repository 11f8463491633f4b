import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { openLibsql } from "../../src/node/database/libsql.js";
import { LongWorkThread, type Task } from "../../src/node/database/libsql-long-work.js";
import {
  type Database,
  DeadlineError,
  type LongWork,
  OutcomeUnknownError,
  statement,
  UnavailableError,
} from "../../src/platform/database.js";
import { patiently } from "../support/patience.js";

let folder: string;
let path: string;
let database: Database;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-long-work-thread-"));
  path = join(folder, "data.db");
  database = openLibsql({ path, synchronous: "normal" });
  await database.migrate([statement("CREATE TABLE item (id INTEGER PRIMARY KEY) STRICT")]);
});

afterEach(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

const numbers = (howMany: number) =>
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${howMany})`;
/** Takes longer than any test. */
const endless = statement(`${numbers(2 ** 40)} SELECT count(*) AS n FROM n`);
const quick = statement("SELECT 1 AS one");
const one = [{ rows: [[1]], rowsWritten: 0 }];
const of = (principal: string, withinMs = 600_000): LongWork => ({ principal, isKey: false, withinMs });

describe("the log", () => {
  /** A thread beside a log of which nothing is true but its length, and what has happened by now. */
  function startedThread(log: { megabytes: number }) {
    const happened: string[] = [];
    const shorten = async () => {
      happened.push("shortened");
      log.megabytes = 0;
    };
    const thread = new LongWorkThread(
      { path, synchronous: "normal" },
      { bytes: () => log.megabytes * 1_000_000, shorten },
    );
    const read = (name: string, ...args: Parameters<LongWorkThread["read"]>) =>
      thread
        .read(...args)
        .catch(() => {})
        .finally(() => happened.push(name));
    return { thread, read, happened };
  }

  it("that is too long lets no read begin until it has been shortened", async () => {
    const log = { megabytes: 0 };
    const { thread, read, happened } = startedThread(log);
    const running = read("long", [endless], of("ada", 300));
    await nextTurn();
    log.megabytes = 300;
    await Promise.all([running, read("quick", [quick], of("bob"))]);
    expect(happened.slice(0, 2).toSorted()).toEqual(["long", "shortened"]);
    expect(happened[2]).toBe("quick");
    await thread.close();
  });

  it("is not shortened while a write runs, which it would have to wait for", async () => {
    const log = { megabytes: 0 };
    const { thread, read, happened } = startedThread(log);
    // So many rows that it is at work for a thousand times as long as the read.
    const insert = statement(`${numbers(1_000_000)} INSERT INTO item SELECT i FROM n`);
    const writing = thread.write("batch", [insert], 600_000).then(() => happened.push("written"));
    log.megabytes = 100;
    await read("quick", [quick], of("bob"));
    expect(happened).toEqual(["quick"]);
    await writing;
    await read("next", [quick], of("bob"));
    expect(happened).toEqual(["quick", "written", "shortened", "next"]);
    await thread.close();
  });

  it("is left as it is once the thread is being closed", async () => {
    const log = { megabytes: 0 };
    const { thread, read, happened } = startedThread(log);
    const all = [
      read("running", [endless], of("ada")),
      read("running", [endless], of("ada")),
      read("waiting", [endless], of("ada")),
    ];
    await nextTurn();
    log.megabytes = 300;
    await thread.close();
    await Promise.all(all);
    expect(happened.toSorted()).toEqual(["running", "running", "waiting"]);
  });
});

describe("a thread that ends", () => {
  /** The thread of the database, once it has answered. */
  async function started(): Promise<Worker> {
    const [[worker]] = await Promise.all([
      once(process, "worker") as Promise<[Worker]>,
      database.query([quick], of("ada")),
    ]);
    return worker;
  }

  it("fails what it has not answered, and leaves alone what the next one does", async () => {
    const first = await started();
    const failed = [
      expect(database.query([endless], of("ada"))).rejects.toThrow(UnavailableError),
      expect(
        database.batch([statement(`${numbers(2 ** 40)} INSERT INTO item SELECT i FROM n`)], of("ada")),
      ).rejects.toThrow(OutcomeUnknownError),
    ];
    const sent = vi.spyOn(first, "postMessage");
    await vi.waitUntil(() => sent.mock.calls.length === 2, patiently);
    // As Node says it; but this thread goes on and answers, as one may that ends slowly.
    first.emit("error", new Error("out of memory"));
    await Promise.all(failed);
    let hasEnded = false;
    const second = expect(
      database.query([endless], of("ada")).finally(() => {
        hasEnded = true;
      }),
    ).rejects.toThrow(UnavailableError);
    await nextTurn();
    sent.mockRestore();
    first.postMessage("stop");
    await once(first, "exit");
    expect(await database.query([quick], of("bob"))).toEqual(one);
    expect(hasEnded).toBe(false);
    await database.close();
    await second;
  });

  it("because of an error is followed by another one", async () => {
    const first = await started();
    const ended = new Promise((resolve) => first.once("exit", resolve));
    first.postMessage(null);
    await ended;
    expect(await database.query([quick], of("ada"))).toEqual(one);
  });
});

it("a thread that is being closed keeps the process until it has ended", async () => {
  const [[worker]] = await Promise.all([
    once(process, "worker") as Promise<[Worker]>,
    database.query([quick], of("ada")),
  ]);
  const running = expect(database.query([endless], of("ada"))).rejects.toThrow(UnavailableError);
  const unref = vi.spyOn(worker, "unref");
  await nextTurn();
  await database.close();
  await running;
  expect(unref).not.toHaveBeenCalled();
});

it("a read that finds the database locked has no more time for that", async () => {
  const worker = once(process, "worker") as Promise<[Worker]>;
  await database.query([quick], of("ada"));
  const given: number[] = [];
  const [thread] = await worker;
  // Time stands still but while the thread has a try.
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  vi.spyOn(thread, "postMessage").mockImplementation(({ id, withinMs }: Task) => {
    given.push(withinMs);
    vi.advanceTimersByTime(100);
    const answer = { id, outcome: "failed", message: "locked", code: "SQLITE_BUSY", rawCode: 5 };
    queueMicrotask(() => thread.emit("message", answer));
  });
  await expect(database.query([quick], of("ada", 300))).rejects.toThrow(DeadlineError);
  expect(given).toEqual([300, 200, 100]);
  vi.restoreAllMocks();
});
