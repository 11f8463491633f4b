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
  /** The rules that requests are judged by, as they are written in svc.toml. */
  serving(): ServedRules;
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
  /** Grows with each `adopt`: what began to load before that is not served after it. */
  let generation = 0;
  const fittingRules = async (inForce: SchemaInForce) => {
    const fresh = await readRules();
    const parsed = fresh === null ? null : fitRules(fresh, inForce);
    return fresh === null || parsed === null || parsed.problems.length > 0
      ? { rules: source, parsed: fitRules(source, inForce) }
      : { rules: fresh, parsed };
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
  const projectWith = async (
    inForce: SchemaInForce,
    { rules: served, parsed }: { readonly rules: ServedRules; readonly parsed: ParsedRules },
    { api }: ProjectConfig,
  ): Promise<LiveProject | Refusal> => {
    const operations = await provedOperations(inForce, parsed);
    const pageBytesMax = Math.min(inForce.catalog.answerBytesMax, api.max_page_bytes);
    const catalog = { ...inForce.catalog, pageBytesMax };
    const unfit = unfitTables(parsed, inForce.schema);
    if (parsed.problems.length > 0)
      log.error(`rules do not fit schema version ${inForce.version}`, parsed.problems.map(formatProblem).join("\n"));
    for (const limit of limitsOf(inForce.catalog.unsupported, inForce.schema.tables.values())) log.warn(limit);
    if (unfit === null) return rulesDoNotFit;
    return { ...inForce, catalog, source: served, rules: parsed.rules, unfit, operations };
  };
  const load = async (asked: number): Promise<LiveProject | Refusal> => {
    const begun = generation;
    const inForce = await loadSchemaInForce(database);
    if (inForce === null) return noSchema;
    // The version that is asked for comes from the database itself. The schema may have been read from a replica that
    // lags behind; an older one is not served.
    if (inForce.version < asked) return lagging;
    const fitting = await fittingRules(inForce);
    const project = await projectWith(inForce, fitting, settings);
    if (begun !== generation) return atVersion(asked);
    source = fitting.rules;
    current = { version: inForce.version, project };
    return project;
  };
  const atVersion = (version: number) => (current?.version === version ? current.project : load(version));
  return {
    current: (version) => (version === null ? noSchema : atVersion(version)),
    adopt: async (adopted) => {
      const inForce = await loadSchemaInForce(database);
      const fitting = inForce && { rules: adopted, parsed: fitRules(adopted, inForce) };
      const project = fitting && (await projectWith(inForce!, fitting, adopted));
      // A failure up to here leaves everything as it was.
      generation++;
      settings = adopted;
      source = adopted;
      current = project && { version: inForce!.version, project };
    },
    serving: () => source,
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
