import { isDeepStrictEqual } from "node:util";
import type { Database } from "../../platform/database.js";
import { ProblemCollector, ProblemsError } from "../../problems/problem.js";
import type { Config } from "../../project/config.js";
import { fitRules } from "../../schema/fit-rules.js";
import { loadSchemaInForce, parseOnce } from "../../schema/in-force.js";
import type { ServedRules } from "../../schema/live-project.js";
import type { Planner } from "../../schema/plan/planner.js";
import { problemsWith } from "../../tables/plan/without-ways.js";
import type { PlannedStep } from "../../wire/plan.js";
import { type ProjectDirectory, readProject, withConfigLines } from "../project-directory.js";
import { type FoundSurroundings, readSurroundings, type SurroundingsOptions } from "../surroundings.js";
import { ownersSteps } from "./bring-up-schema.js";
import { restartProblems } from "./needs-restart.js";

/**
 * Reads the files of a running server's project again. Throws ProblemsError with every problem of them, and with every
 * setting that needs a restart.
 */
export function readAgain(
  served: ProjectDirectory,
  options: SurroundingsOptions & { readonly adapt: (config: Config) => Config },
): { readonly project: ProjectDirectory; readonly found: FoundSurroundings } {
  const { directory } = served;
  const read = readProject(directory, directory, options.environment);
  const project = { ...read, config: options.adapt(read.config) };
  const collector = new ProblemCollector();
  for (const problem of restartProblems(served.config, project.config)) collector.add(problem);
  const found = collector.read(() => readSurroundings(project, options))!;
  if (collector.problems.length > 0) throw new ProblemsError(withConfigLines(project, collector.problems));
  return { project, found };
}

/**
 * Whether a project's files are as those that are being served. The rules may be others than those of the file that was
 * taken over last: a schema that another process applies is served with the rules that fit it.
 */
export function isAsServed(project: ProjectDirectory, served: ProjectDirectory, rules: ServedRules): boolean {
  return (
    project.configText === served.configText &&
    project.schemaText === served.schemaText &&
    isDeepStrictEqual([rules.rules, rules.conditions], [project.config.rules, project.config.conditions])
  );
}

/**
 * What a reload would do to the schema, with nothing done: the steps that it would take, or those that would wait for a
 * person. Throws ProblemsError if the schema cannot be applied, or if the rules do not fit the schema that would be in force.
 */
export async function rehearsed(
  project: ProjectDirectory,
  database: Database,
  planner: Planner["plan"],
): Promise<{ readonly steps: readonly PlannedStep[]; readonly waits: readonly PlannedStep[] }> {
  const { config, schemaText } = project;
  const planned = await planner(database, schemaText);
  if (planned.outcome === "invalid") throw new ProblemsError(planned.problems);
  const { steps } = planned.plan;
  const { auto_apply, auto_apply_max_rows } = config.schema;
  const mayApply = auto_apply && steps.every(({ safe, rows }) => safe && rows <= auto_apply_max_rows);
  const inForce = mayApply ? null : await loadSchemaInForce(database);
  const problems = mayApply
    ? problemsWith(config, parseOnce(schemaText).schema!)
    : inForce === null
      ? []
      : fitRules(config, inForce).problems;
  if (problems.length > 0) throw new ProblemsError(withConfigLines(project, problems));
  const shown = ownersSteps(steps);
  return mayApply ? { steps: shown, waits: [] } : { steps: [], waits: shown };
}
