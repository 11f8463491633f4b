import type { Database } from "../../platform/database.js";
import type { Problem } from "../../problems/problem.js";
import { located } from "../../project/lines/located.js";
import { yamlPlaces } from "../../project/lines/yaml-places.js";
import { type Plan, type PlanOutcome, planChange } from "./plan.js";

/** Plans the change to a proposed schema for a request, as `planLocated` does. */
export interface Planner {
  /** For a change that is to be carried out. */
  readonly plan: (database: Database, proposedText: string) => Promise<PlanOutcome>;
  /** For a person who looks at the steps. The schema, which may be large, is left out. */
  readonly steps: (database: Database, proposedText: string) => Promise<StepsOutcome>;
}

/** The steps of a plan, or the problems of the proposed schema. */
export type StepsOutcome =
  | { readonly outcome: "planned"; readonly plan: Pick<Plan, "base" | "hash" | "steps"> }
  | Exclude<PlanOutcome, { readonly outcome: "planned" }>;

/** How many problems of a proposed schema the answer to a request names. */
const namedProblemsMax = 100;

/** As `planChange`, but of the problems gives only the first ones, with their lines in the text. */
export async function planLocated(database: Database, proposedText: string): Promise<PlanOutcome> {
  const planned = await planChange(database, proposedText);
  if (planned.outcome === "planned") return planned;
  const { problems, more } = named(planned.problems);
  return { outcome: "invalid", problems: located(problems, proposedText, yamlPlaces), more };
}

/** Plans in the event loop. */
export const plannerHere: Planner = { plan: planLocated, steps: planLocated };

/** The problems that an answer names, and how many `more` there are. */
export function named(problems: readonly Problem[]): { readonly problems: readonly Problem[]; readonly more: number } {
  const first = problems.slice(0, namedProblemsMax);
  return { problems: first, more: problems.length - first.length };
}
