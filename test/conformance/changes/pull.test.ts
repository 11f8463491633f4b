import { expect, test, vi } from "vitest";
import { Random } from "../../property/support/random.js";
import { follow } from "./follow.js";

/** `SEED=… HISTORIES=… PULLS=…` repeats or prolongs a run of `follow`. */
const histories = Number(process.env.HISTORIES ?? 6);
const pulls = Number(process.env.PULLS ?? 12);
vi.setConfig({ testTimeout: 900_000 + 10 * histories * pulls * 400 });

test.each([
  { scanLimit: 3, changing: false },
  { scanLimit: 100_000, changing: false },
  { scanLimit: 3, changing: true },
  { scanLimit: 100_000, changing: true },
])("clients hold what lists show, with a scan limit of $scanLimit, changing members: $changing", async (of) => {
  const random = new Random(Random.seedOfRun());
  const counts = await follow(random, { histories: Math.ceil(histories / 4), pulls, ...of });
  console.log(JSON.stringify(counts));
  // Something is told.
  expect(counts.insert + counts.update + counts.remove).toBeGreaterThan(0);
});
