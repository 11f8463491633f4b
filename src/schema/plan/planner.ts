import type { Database } from "../../platform/database.js";
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
  const { problems } = planned;
  const named = located(problems.slice(0, namedProblemsMax), proposedText, yamlPlaces);
  return { outcome: "invalid", problems: named, more: problems.length - named.length };
}
