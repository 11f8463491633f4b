import { setImmediate as turn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { CommitWatch } from "../../src/node/database/commit-watch.js";

function waitingOn(watch: CommitWatch, names: readonly string[], woken: string[]): void {
  const over = new AbortController();
  onTestFinished(() => over.abort());
  for (const name of names)
    void watch
      .within(60_000)
      .next(watch.known(), over.signal)
      .then(() => woken.push(name));
}

test("those who wait are woken one after the other, and the event loop goes on in between", async () => {
  const watch = new CommitWatch(() => 1);
  const woken: string[] = [];
  waitingOn(watch, ["a", "b", "c"], woken);
  watch.committed();
  await Promise.resolve();
  expect(woken).toEqual(["a"]);
  // Another commit meanwhile wakes nobody twice, and those who began to wait after it are not woken.
  watch.committed();
  waitingOn(watch, ["d"], woken);
  for (let i = 0; i < 10; i++) await turn();
  expect(woken).toEqual(["a", "b", "c"]);
  watch.committed();
  await turn();
  expect(woken).toEqual(["a", "b", "c", "d"]);
});
