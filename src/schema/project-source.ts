import { Refusal } from "../http/refusal.js";
import type { AtOnce } from "../platform/at-once.js";
import type { Database } from "../platform/database.js";
import type { Log } from "../platform/platform.js";
import { dottedPath } from "../problems/dotted-path.js";
import { formatProblem } from "../problems/problem.js";
import type { Config } from "../project/config.js";
import type { Schema } from "../project/model.js";
import type { ParsedRules } from "../project/parse-rules.js";
import type { TableName } from "../sqlite/names.js";
import { fitRules } from "./fit-rules.js";
import { loadSchemaInForce, type SchemaInForce } from "./in-force.js";
import type { LiveOperation, LiveProject, ServedRules } from "./live-project.js";
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
  /**
   * Serves by the rules and settings of another svc.toml from now on, with the schema in force, which they have to fit.
   * Requests that have begun go on with what they were given.
   */
  adopt(config: ProjectConfig): Promise<void>;
  /** The rules that a schema may be served with once it is applied: those of svc.toml as it is now, and those in use. */
  sources(): Promise<readonly ServedRules[]>;
}

/** The settings that a project is made of. */
export type ProjectConfig = ServedRules & { readonly api: Pick<Config["api"], "max_page_bytes"> };

/** Reads the rules of svc.toml as it is now; null if it has problems. */
export type ReadRules = () => Promise<ServedRules | null>;

const noSchema = new Refusal("unavailable", "no schema has been applied to the database yet");
const lagging = new Refusal("unavailable", "the schema in force cannot be read yet");
const rulesDoNotFit = new Refusal("unavailable", "the rules do not fit the schema in force");

/**
 * When it loads a version of the schema, it takes the rules of svc.toml as it is then, if `readRules` is given and they
 * fit. So a schema that another process has applied is served with the rules that fit it.
 *
 * It logs an error if the rules or operations do not fit the schema, and a warning for everything that this database
 * engine cannot do with the schema's tables (`limitsOf`).
 */
export function createProjectSource(
  config: ProjectConfig,
  database: Database,
  log: Log,
  readRules: ReadRules = async () => null,
): ProjectSource {
  let settings = config;
  let source: ServedRules = config;
  // The loaded project and not a promise of it: on a Worker, the request that began to load the project may be
  // cancelled, and other requests would wait for its promise forever.
  let current: { readonly version: number; readonly project: LiveProject | Refusal } | null = null;
  const fittingRules = async (inForce: SchemaInForce): Promise<ParsedRules> => {
    const fresh = await readRules();
    const parsed = fresh === null ? null : fitRules(fresh, inForce);
    if (fresh === null || parsed === null || parsed.problems.length > 0) return fitRules(source, inForce);
    source = fresh;
    return parsed;
  };
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
    const parsed = await fittingRules(inForce);
    const operations = await provedOperations(inForce, parsed);
    const pageBytesMax = Math.min(inForce.catalog.answerBytesMax, settings.api.max_page_bytes);
    const catalog = { ...inForce.catalog, pageBytesMax };
    const unfit = unfitTables(parsed, inForce.schema);
    const project =
      unfit === null ? rulesDoNotFit : { ...inForce, catalog, source, rules: parsed.rules, unfit, operations };
    if (parsed.problems.length > 0)
      log.error(`rules do not fit schema version ${inForce.version}`, parsed.problems.map(formatProblem).join("\n"));
    // The version that is asked for comes from the database itself. The schema may have been read from a replica that
    // lags behind; an older one is not served.
    if (inForce.version < asked) return lagging;
    current = { version: inForce.version, project };
    for (const limit of limitsOf(inForce.catalog.unsupported, inForce.schema.tables.values())) log.warn(limit);
    return project;
  };
  return {
    adopt: async (adopted) => {
      settings = adopted;
      source = adopted;
      await load(0);
    },
    current: (version) => {
      if (version === null) return noSchema;
      return current?.version === version ? current.project : load(version);
    },
    sources: async () => {
      const fresh = await readRules();
      return fresh === null ? [source] : [fresh, source];
    },
  };
}

/**
 * The tables whose rules do not fit the schema, each with the refusal of its requests. Null if something else in
 * svc.toml does not fit, such as a named condition, on which any rule may depend. Rules of tables that the schema does
 * not have concern nobody.
 */
function unfitTables({ problems }: ParsedRules, { tables }: Schema): LiveProject["unfit"] | null {
  const unfit = new Map<TableName, Refusal>();
  for (const { path } of problems) {
    const isUnder = (prefix: string) => path === prefix || path.startsWith(`${prefix}.`);
    const table = [...tables.values()].find(({ name }) => isUnder(dottedPath(["rules", name])));
    if (table !== undefined)
      unfit.set(table.name, new Refusal("unavailable", `the rules of ${table.name} do not fit the schema in force`));
    else if (!isUnder("rules")) return null;
  }
  return unfit;
}
