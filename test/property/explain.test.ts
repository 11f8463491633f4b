import { expect, test, vi } from "vitest";
import { compareVerdicts, type Seen } from "./explain/verdicts.js";
import { Random } from "./support/random.js";

/**
 * What Explain says of a call against the call itself, through the router, and that it writes nothing. `SEED=… RULES=… npx
 * vitest run test/property/explain.test.ts` repeats or prolongs a run; each table has four rules.
 */
const seed = Random.seedOfRun();
const ruleCount = Number(process.env.RULES ?? 60);
const tablesPerServer = 25;
const callsEach = 4;
vi.setConfig({ testTimeout: 900_000 + 10 * ruleCount * 200 });

test("an explanation's verdict is the call's, each term is what SQL makes of it, and nothing is written", async () => {
  const random = new Random(seed);
  const seen: Seen = { allowed: 0, denied: 0, early: 0, terms: 0 };
  const tables = Math.ceil(ruleCount / 4);
  for (let left = tables; left > 0; left -= tablesPerServer)
    await compareVerdicts(random, Math.min(left, tablesPerServer), callsEach, seen);
  console.log(`SEED=${seed}: ${tables * 4} rules, ${JSON.stringify(seen)}`);
  const calls = tables * 4 * callsEach;
  for (const outcome of ["allowed", "denied", "early"] as const)
    expect(seen[outcome], outcome).toBeGreaterThan(calls / 20);
  expect(seen.terms).toBeGreaterThan(calls);
});
