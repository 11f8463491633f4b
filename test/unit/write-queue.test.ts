import Libsql from "libsql";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Connection } from "../../src/node/database/libsql-connection.js";
import { WriteQueue } from "../../src/node/database/libsql-write-queue.js";
import { statement, UnavailableError } from "../../src/platform/database.js";

/** Time stands still but where a test says how much of it passes. */
beforeEach(() => vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => vi.useRealTimers());

/** A queue whose writes note their names when they run; a long one takes ten seconds. */
function queueOf(begin = () => {}) {
  const ran: string[] = [];
  const writer = {
    begin,
    write: (statements: readonly { sql: string }[]) => {
      ran.push(statements[0]!.sql);
      return [];
    },
    commit: () => {},
    rollback: () => {},
  };
  const queue = new WriteQueue(writer as unknown as Connection, {
    lockWaitMs: 4_000,
    readsElsewhere: true,
    runInThread: async (_kind, statements) => {
      ran.push(statements[0]!.sql);
      vi.advanceTimersByTime(10_000);
      return [];
    },
    schemaChanged: () => {},
  });
  const add = (name: string, endsAtMs: number | null = null) => queue.add("batch", [statement(name)], endsAtMs);
  return { queue, ran, add };
}

const busy = () => new Libsql.SqliteError("database is locked", "SQLITE_BUSY", 5);

it("a write that waited for a long one waits for another process as well", async () => {
  let attempts = 0;
  const { ran, add } = queueOf(() => {
    if (++attempts === 1) throw busy();
  });
  void add("long", performance.now() + 60_000);
  await add("short");
  expect(ran).toEqual(["long", "short"]);
  expect(attempts).toBe(2);
});

it("a write waits four seconds for another process", async () => {
  let attempts = 0;
  const { add } = queueOf(() => {
    attempts++;
    vi.advanceTimersByTime(1_000);
    throw busy();
  });
  await expect(add("short")).rejects.toThrow(UnavailableError);
  expect(attempts).toBe(5);
});

it("what uses the connection comes before all writes that wait", async () => {
  const { queue, ran, add } = queueOf();
  const checkpoint = async () => void ran.push("checkpoint");
  await Promise.all([add("short"), add("long", performance.now() + 60_000), queue.doNext(checkpoint)]);
  expect(ran).toEqual(["checkpoint", "short", "long"]);
});
