import { once } from "node:events";
import { parentPort, workerData } from "node:worker_threads";
import type { Database, Statement } from "../../platform/database.js";
import type { PlanOutcome } from "../../schema/plan/plan.js";
import { planLocated, type StepsOutcome } from "../../schema/plan/planner.js";
import { type FromPlanThread, knownErrors, type PlanTask, type ToPlanThread } from "./schema-plans.js";

// The thread of `schemaPlans`: makes one plan.
const { text, isWhole, database } = workerData as PlanTask;
const port = parentPort!;
const say = (said: FromPlanThread) => port.postMessage(said);

// A planner awaits each call before it makes the next one, except for the first two. So calls take turns.
let last: Promise<unknown> = Promise.resolve();
const call = (kind: "query" | "batch") => (statements: readonly Statement[]) => {
  const results = last.then(async () => {
    const answered = once(port, "message");
    say({ call: kind, statements });
    const [answer] = (await answered) as [ToPlanThread];
    if ("results" in answer) return answer.results;
    throw knownErrors[answer.kind](answer.message);
  });
  last = results.catch(() => {});
  return results;
};
const unused = () => Promise.reject(new Error("a plan changes nothing"));
const asked: Database = { ...database, query: call("query"), batch: call("batch"), migrate: unused, close: unused };

// An error ends the thread, and becomes its event `error`.
void planLocated(asked, text).then((outcome) => {
  say({ outcome: isWhole ? outcome : withoutSchema(outcome) });
  port.close();
});

function withoutSchema(outcome: PlanOutcome): StepsOutcome {
  if (outcome.outcome === "invalid") return outcome;
  const { base, hash, steps } = outcome.plan;
  return { outcome: "planned", plan: { base, hash, steps } };
}
