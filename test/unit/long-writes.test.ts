import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { LongWrites } from "../../src/node/database/long-writes.js";
import { DeadlineError, type LongWork, QueueFullError } from "../../src/platform/database.js";

const of = (principal: string, withinMs = 60_000): LongWork => ({ principal, isKey: false, withinMs });

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
  await Promise.all(asked);
  expect(begun).toEqual(["ada0", "ada1", "bob3", "ada2"]);
});

it("whoever was interrupted is refused for a while, and nobody else", async () => {
  const writes = new LongWrites();
  const ada = held();
  const interrupted = expect(writes.run(of("ada"), ada.write)).rejects.toThrow(DeadlineError);
  await nextTurn();
  // Long enough to be measured.
  const fromMs = performance.now();
  while (performance.now() - fromMs < 5);
  ada.end(new DeadlineError("too long"));
  await interrupted;
  const refused = await writes.run(of("ada"), async () => {}).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(QueueFullError);
  expect((refused as QueueFullError).retryAfterMs).toBeGreaterThan(0);
  expect(await writes.run(of("bob"), async () => "done")).toBe("done");
});

it("a write that fails in another way keeps nobody away", async () => {
  const writes = new LongWrites();
  const failed = writes.run(of("ada"), async () => {
    throw new Error("no such table");
  });
  await expect(failed).rejects.toThrow("no such table");
  expect(await writes.run(of("ada"), async () => "done")).toBe("done");
});

it("a write whose turn does not come by its deadline is not begun", async () => {
  const writes = new LongWrites();
  const ada = held();
  const first = writes.run(of("ada"), ada.write);
  let begun = false;
  const late = writes.run(of("bob", 1), async () => {
    begun = true;
  });
  await expect(late).rejects.toThrow(DeadlineError);
  ada.end();
  await first;
  await writes.run(of("cyd"), async () => {});
  expect(begun).toBe(false);
});
