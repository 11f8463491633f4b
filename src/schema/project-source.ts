import { Refusal } from "../http/refusal.js";
import type { AtOnce } from "../platform/at-once.js";
import type { Database } from "../platform/database.js";
import type { Log } from "../platform/platform.js";
import { formatProblem } from "../problems/problem.js";
import type { Config } from "../project/config.js";
import type { ParsedRules, RulesSource } from "../project/parse-rules.js";
import { fitRules } from "./fit-rules.js";
import { loadSchemaInForce, type SchemaInForce } from "./in-force.js";
import type { LiveOperation, LiveProject } from "./live-project.js";
import { limitsOf } from "./physical/unsupported.js";
import { proveOperations } from "./prove-operations.js";

/**
 * Gives requests the project of the schema in force. It is loaded again when a request finds another version of the
 * schema in the database.
 */
export interface ProjectSource {
  /**
   * The project at this version of the schema, or at a later one that was applied meanwhile. A refusal `unavailable` if
   * the version is null (no schema was ever applied), or if the schema cannot be served. Returned without a promise if
   * the project is loaded already.
   */
  current(version: number | null): AtOnce<LiveProject | Refusal>;
}

/** The settings that a project is made of. */
export type ProjectConfig = RulesSource & { readonly api: Pick<Config["api"], "max_page_bytes"> };

const noSchema = new Refusal("unavailable", "no schema has been applied to the database yet");
const lagging = new Refusal("unavailable", "the schema in force cannot be read yet");
const rulesDoNotFit = new Refusal("unavailable", "the rules do not fit the schema in force");

/**
 * When it loads a version of the schema, it logs an error if the rules or operations do not fit the schema, and a
 * warning for everything that this database engine cannot do with the schema's tables (`limitsOf`).
 */
export function createProjectSource(source: ProjectConfig, database: Database, log: Log): ProjectSource {
  // The loaded project and not a promise of it: on a Worker, the request that began to load the project may be
  // cancelled, and other requests would wait for its promise forever.
  let current: { readonly version: number; readonly project: LiveProject | Refusal } | null = null;
  const provedOperations = async ({ schema, version }: SchemaInForce, { operations: rules }: ParsedRules) => {
    const proofs = await proveOperations(database, schema);
    const problems = [...proofs.values()].flatMap((proof) => proof.problems);
    if (problems.length > 0)
      log.error(`operations do not fit schema version ${version}`, problems.map(formatProblem).join("\n"));
    return new Map(
      [...schema.operations].map(([name, operation]): [string, LiveOperation] => [
        name,
        { operation, rules: rules.get(name)!, proof: proofs.get(name)! },
      ]),
    );
  };
  const load = async (asked: number): Promise<LiveProject | Refusal> => {
    const inForce = await loadSchemaInForce(database);
    if (inForce === null) return noSchema;
    const parsed = fitRules(source, inForce);
    const operations = await provedOperations(inForce, parsed);
    const pageBytesMax = Math.min(inForce.catalog.answerBytesMax, source.api.max_page_bytes);
    const catalog = { ...inForce.catalog, pageBytesMax };
    const project =
      parsed.problems.length === 0 ? { ...inForce, catalog, rules: parsed.rules, operations } : rulesDoNotFit;
    if (project === rulesDoNotFit)
      log.error(`rules do not fit schema version ${inForce.version}`, parsed.problems.map(formatProblem).join("\n"));
    // The version that is asked for comes from the database itself. The schema may have been read from a replica that
    // lags behind; an older one is not served.
    if (inForce.version < asked) return lagging;
    current = { version: inForce.version, project };
    for (const limit of limitsOf(inForce.catalog.unsupported, inForce.schema.tables.values())) log.warn(limit);
    return project;
  };
  return {
    current: (version) => {
      if (version === null) return noSchema;
      return current?.version === version ? current.project : load(version);
    },
  };
}
