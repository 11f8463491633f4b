import type { Database } from "../../platform/database.js";
import type { Problem } from "../../problems/problem.js";
import { located } from "../../project/lines/located.js";
import { yamlPlaces } from "../../project/lines/yaml-places.js";
import { type PlanOutcome, planChange } from "./plan.js";

/** Plans the change to a proposed schema for a request, as `planLocated` does. */
export type Planner = (database: Database, proposedText: string) => Promise<PlanOutcome>;

/** How many problems of a proposed schema the answer to a request names. */
const namedProblemsMax = 100;

/** As `planChange`, but of the problems gives only the first ones, with their lines in the text. */
export async function planLocated(database: Database, proposedText: string): Promise<PlanOutcome> {
  const planned = await planChange(database, proposedText);
  if (planned.outcome === "planned") return planned;
  const { problems, more } = named(planned.problems);
  return { outcome: "invalid", problems: located(problems, proposedText, yamlPlaces), more };
}

/** The problems that an answer names, and how many `more` there are. */
export function named(problems: readonly Problem[]): { readonly problems: readonly Problem[]; readonly more: number } {
  const first = problems.slice(0, namedProblemsMax);
  return { problems: first, more: problems.length - first.length };
}
