import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { LongWrites } from "../../src/node/database/long-writes.js";
import { DeadlineError, type LongWork, QueueFullError } from "../../src/platform/database.js";

const of = (principal: string, withinMs = 60_000): LongWork => ({ principal, isKey: false, withinMs });

/** Time stands still but where a test says how much of it passes. */
beforeEach(() => vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] }));
afterEach(() => vi.useRealTimers());

/** After what has ended, others rest as long as it took, of which a test says nothing. */
async function rested<T>(work: Promise<T>): Promise<T> {
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await nextTurn();
    vi.advanceTimersByTime(1);
  }
  return ended;
}

/** A write that ends when it is told to. */
function held() {
  let end!: (error?: Error) => void;
  const done = new Promise<void>((resolve, reject) => {
    end = (error) => (error === undefined ? resolve() : reject(error));
  });
  return { write: () => done, end };
}

it("one write runs at a time, and callers take turns", async () => {
  const writes = new LongWrites();
  const begun: string[] = [];
  const ada = held();
  const asked = ["ada", "ada", "ada", "bob"].map((principal, i) =>
    writes.run(of(principal), async () => {
      begun.push(`${principal}${i}`);
      if (i === 0) await ada.write();
    }),
  );
  expect(begun).toEqual([]);
  await Promise.resolve();
  expect(begun).toEqual(["ada0"]);
  ada.end();
  await rested(Promise.all(asked));
  expect(begun).toEqual(["ada0", "ada1", "bob3", "ada2"]);
});

it("whoever was interrupted is refused for a while, and nobody else", async () => {
  const writes = new LongWrites();
  const ada = held();
  const interrupted = expect(writes.run(of("ada"), ada.write)).rejects.toThrow(DeadlineError);
  await nextTurn();
  vi.advanceTimersByTime(5);
  ada.end(new DeadlineError("too long"));
  await interrupted;
  const refused = await writes.run(of("ada"), async () => {}).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(QueueFullError);
  expect((refused as QueueFullError).retryAfterMs).toBe(50);
  expect(await rested(writes.run(of("bob"), async () => "done"))).toBe("done");
});

it("a write that fails in another way keeps nobody away", async () => {
  const writes = new LongWrites();
  const failed = writes.run(of("ada"), async () => {
    throw new Error("no such table");
  });
  await expect(failed).rejects.toThrow("no such table");
  expect(await rested(writes.run(of("ada"), async () => "done"))).toBe("done");
});

it("a write whose turn does not come by its deadline is not begun", async () => {
  const writes = new LongWrites();
  const ada = held();
  const first = writes.run(of("ada"), ada.write);
  let begun = false;
  const late = writes.run(of("bob"), async () => {
    begun = true;
  });
  const refused = expect(late).rejects.toThrow(DeadlineError);
  vi.advanceTimersByTime(60_000);
  await refused;
  ada.end();
  await first;
  await rested(writes.run(of("cyd"), async () => {}));
  expect(begun).toBe(false);
});
