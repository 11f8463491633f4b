import { Refusal } from "../http/refusal.js";
import type { Database } from "../platform/database.js";
import type { Log } from "../platform/platform.js";
import { formatProblem } from "../project/problem.js";
import { parseRules, type RulesSource } from "../project/rules/rules.js";
import { loadSchemaInForce } from "./in-force.js";
import type { LiveProject } from "./live-project.js";

/** The project of the schema in force, loaded anew when a request finds another version of it in the database. */
export interface ProjectSource {
  current(version: number | null): Promise<LiveProject | Refusal>;
}

const noSchema = new Refusal("unavailable", "no schema has been applied to the database yet");
const rulesDoNotFit = new Refusal("unavailable", "the rules do not fit the schema in force");

export function createProjectSource(rules: RulesSource, database: Database, log: Log): ProjectSource {
  // The project itself, never its promise: on a Worker, whatever request began to load it may vanish half-way.
  let current: { readonly version: number; readonly project: LiveProject | Refusal } | null = null;
  const load = async (): Promise<LiveProject | Refusal> => {
    const inForce = await loadSchemaInForce(database);
    if (inForce === null) return noSchema;
    const parsed = parseRules(rules, inForce.schema);
    if (parsed.problems.length === 0) return { ...inForce, rules: parsed.rules };
    log.error(
      `rules do not fit schema version ${inForce.version}`,
      parsed.problems.map(formatProblem).join("\n"),
    );
    return rulesDoNotFit;
  };
  return {
    current: async (version) => {
      if (version === null) return noSchema;
      if (current?.version !== version) current = { version, project: await load() };
      return current.project;
    },
  };
}
