import { expect, test } from "vitest";
import { openLibsql } from "../../src/node/database/libsql.js";
import type { SchemaPlans as Plans } from "../../src/node/plans/schema-plans.js";

// The thread runs the built code.
const built = new URL("../../dist/node/plans/schema-plans.js", import.meta.url).href;
const { SchemaPlans } = (await import(built)) as { SchemaPlans: typeof Plans };

const database = openLibsql({ path: ":memory:", synchronous: "normal" });
const schema = "t: { columns: { id: { type: integer, primary_key: true } } }";
/** It takes the thread seconds. */
const slow = `t:\n${"  - 1\n".repeat(100_000)}`;

test("one plan is made after the other, and plans that wait end when the server stops", async () => {
  const plans = new SchemaPlans(60_000);
  const first = plans.plan(database, slow);
  const waiting = Array.from({ length: 9 }, () => plans.plan(database, schema));
  const settled = Promise.allSettled([first, ...waiting]);
  await expect(waiting.at(-1)).rejects.toThrow("too many schemas are being planned");
  plans.close();
  const reasons = (await settled).map((each) => (each as PromiseRejectedResult).reason.message);
  expect(new Set(reasons.slice(0, -1))).toEqual(new Set(["the schema takes too long to plan"]));
});

test("waiting counts towards the time that a plan may take", async () => {
  const plans = new SchemaPlans(1);
  const both = await Promise.allSettled([plans.plan(database, slow), plans.plan(database, schema)]);
  const late = { status: "rejected", reason: { message: "the schema takes too long to plan" } };
  expect(both).toMatchObject([late, late]);
});
