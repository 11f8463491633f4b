import type { ReloadOutcome } from "../admin/services.js";
import { formatProblem } from "../problems/problem.js";
import { formatStep } from "../schema/plan/format-plan.js";

/** What `svc serve` writes to standard error about a reload. */
export function reloadReport(outcome: ReloadOutcome): string {
  if ("problems" in outcome)
    return [...outcome.problems.map(formatProblem), "nothing is taken over: the server goes on as it was"].join("\n");
  const { applied, steps, waits } = outcome;
  if (waits.length > 0) {
    const rest = "svc.toml is taken over; the steps of svc.schema.yaml wait for `svc schema apply --allow-destructive`";
    return [rest, ...waits.map(formatStep)].join("\n");
  }
  return [applied ? "the files are taken over" : "the files are as before", ...steps.map(formatStep)].join("\n");
}
