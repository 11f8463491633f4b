import { expect, test, vi } from "vitest";
import { compareVerdicts, type Seen } from "../../property/explain/verdicts.js";
import { Random } from "../../property/support/random.js";

/**
 * Generated rules on every target: what Explain says of a call against the call itself. One server has many tables, each
 * with four rules. `test/property/explain.test.ts` is the long form. `SEED=… TARGET_RULES=…` repeats or prolongs a run.
 */
const seed = Random.seedOfRun();
const tableCount = Math.ceil(Number(process.env.TARGET_RULES ?? 40) / 4);
const tablesPerServer = 25;
vi.setConfig({ testTimeout: 900_000 + 10 * tableCount * 4_000 });

test("an explanation's verdict is the call's, and nothing is written", async () => {
  const random = new Random(seed);
  const seen: Seen = { allowed: 0, denied: 0, early: 0, terms: 0 };
  for (let left = tableCount; left > 0; left -= tablesPerServer)
    await compareVerdicts(random, Math.min(left, tablesPerServer), 2, seen);
  console.log(`SEED=${seed}: ${tableCount * 4} rules, ${JSON.stringify(seen)}`);
  expect(Math.min(seen.allowed, seen.denied, seen.terms)).toBeGreaterThan(0);
});
