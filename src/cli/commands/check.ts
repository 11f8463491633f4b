import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isLoopbackHost } from "../../http/loopback.js";
import { databaseFile } from "../../node/database/database-file.js";
import { openLibsql } from "../../node/database/libsql.js";
import { openProjectDatabase } from "../../node/project-database.js";
import { type ProjectDirectory, readProject } from "../../node/project-directory.js";
import { credentialFiles } from "../../node/provider-credentials.js";
import type { Database } from "../../platform/database.js";
import { formatProblem, type Problem, ProblemsError } from "../../problems/problem.js";
import { comparisonWarnings } from "../../project/comparison-warnings.js";
import type { Config } from "../../project/config.js";
import { defaultWarnings } from "../../project/default-warnings.js";
import { configFile, schemaFile } from "../../project/file-names.js";
import { imageWarnings } from "../../project/image-warnings.js";
import { withLines } from "../../project/lines/with-lines.js";
import type { Schema } from "../../project/model.js";
import { type ParsedRules, parseRules } from "../../project/parse-rules.js";
import { parseSchema } from "../../project/parse-schema.js";
import { unconfirmedEmailWarnings } from "../../project/unconfirmed-email-warnings.js";
import { updateWarnings } from "../../project/update-warnings.js";
import { applySafe } from "../../schema/apply.js";
import { type Catalog, loadCatalog } from "../../schema/catalog.js";
import { loadSchemaInForce } from "../../schema/in-force.js";
import { proveOperations } from "../../schema/prove-operations.js";
import { withoutVirtualTables } from "../../schema/pull/without-virtual.js";
import { notFollowable } from "../../sync/followable.js";
import { unservedExists } from "../../tables/plan/unserved-exists.js";
import { listedByWords } from "../../tables/plan/way-words.js";
import { type ListedBy, waysOfRules } from "../../tables/plan/ways-of-rules.js";
import { withoutWays } from "../../tables/plan/without-ways.js";
import type { Command } from "../command.js";
import { releaseWarnings, schemaWarnings, surroundingWarnings } from "../start-warnings.js";
import { uncompiledTriggers } from "../uncompiled-triggers.js";

/** Finds all problems and warnings of svc.toml, svc.schema.yaml and all rules in one run. */
const check: Command = {
  name: "check",
  usage: "[--strict]",
  summary: "Reads svc.toml, svc.schema.yaml and all rules, and prints every problem and warning.",
  options: { strict: { type: "boolean" } },
  help: [
    "--strict     counts warnings as problems, and so asks for all that a start needs of the environment",
    "--json       prints {problems, warnings, lists, syncs}. Problems and warnings have file, line, path and message.",
    "             lists: how a list of each table finds the rows that a user may read.",
    "             syncs: whether clients can keep copies of its rows up to date, or why they cannot.",
  ],
  positionals: [],
  run: async ({ directory, environment, json, flag }) => {
    const { problems, warnings, lists, syncs } = await found(directory, environment, flag("strict"));
    if (json) {
      const said = { problems: problems.map(asJson), warnings: warnings.map(asJson), lists, syncs };
      console.log(JSON.stringify(said));
    } else {
      for (const problem of problems) console.error(formatProblem(problem));
      for (const warning of warnings) console.error(`warning: ${formatProblem(warning)}`);
      if (problems.length === 0) console.log("no problems");
      if (lists.length > 0) console.log(`lists find the rows that a user may read:\n${lists.map(listLine).join("\n")}`);
      // Only a table that keeps history can be synced.
      if (syncs.some(({ keepsHistory }) => keepsHistory))
        console.log(`clients can keep copies of rows:\n${syncs.map(syncLine).join("\n")}`);
    }
    return problems.length === 0 ? 0 : 2;
  },
};

/** `svc check` */
export const commands: readonly Command[] = [check];

interface CheckedProject {
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  readonly lists: readonly ListedBy[];
  readonly syncs: readonly Synced[];
}

/** Whether clients can keep synced copies of a table's rows (docs/sync.md#which-tables); `problem` says why not. */
interface Synced {
  readonly table: string;
  readonly keepsHistory: boolean;
  readonly problem: string | null;
}

function syncLine({ table, problem }: Synced): string {
  return `  ${table}: ${problem === null ? "yes" : `no, ${problem}`}`;
}

function syncsOf(schema: Schema, rules: ParsedRules["rules"], catalog: Catalog): readonly Synced[] {
  return [...schema.tables.values()].map((table) => ({
    table: table.name,
    keepsHistory: table.historyDays !== null,
    problem: notFollowable(table, rules.get(table.name)!.read, schema, catalog),
  }));
}

function listLine(listed: ListedBy): string {
  return `  ${listed.table}: ${listedByWords(listed)}`;
}

/**
 * If there are problems, only these are returned: if a file cannot be parsed, neither warnings nor the rest can be
 * found. `isStrict` makes problems of the warnings.
 */
async function found(directory: string, environment: NodeJS.ProcessEnv, isStrict: boolean): Promise<CheckedProject> {
  try {
    const project = readProject(directory);
    const schema = parseSchema(project.schemaText).schema!;
    const texts = new Map([
      [configFile, project.configText],
      [schemaFile, project.schemaText],
    ]);
    const { lists, syncs, ...findings } = await findingsOf(project, schema, environment);
    const all = [...(await uncompiledTriggers(schema)), ...findings.problems, ...(isStrict ? findings.warnings : [])];
    if (all.length > 0) return { problems: withLines(all, texts), warnings: [], lists: [], syncs: [] };
    return { problems: [], warnings: withLines(findings.warnings, texts), lists, syncs };
  } catch (error) {
    if (!(error instanceof ProblemsError)) throw error;
    return { problems: error.problems, warnings: [], lists: [], syncs: [] };
  }
}

function asJson({ file, line, path, message }: Problem) {
  return { file, line: line ?? null, path, message };
}

/**
 * Finds what a server's start in this environment would refuse or warn of, and what is valid but probably not intended.
 * The project's files have been parsed before. Also returns how lists of each table find the rows that a user may read,
 * and which tables clients can sync.
 */
async function findingsOf(
  project: ProjectDirectory,
  schema: Schema,
  environment: NodeJS.ProcessEnv,
): Promise<CheckedProject> {
  const { config } = project;
  const { rules } = parseRules(config, schema);
  const measured = await measuredOf(project, schema, environment);
  const { catalog, problems } = measured;
  const warnings = [
    ...surroundingWarnings(project, environment),
    ...measured.warnings,
    ...unreachableTables(config, schema),
    ...(await signInWarnings(project, schema, environment)),
    ...comparisonWarnings(rules),
    ...unconfirmedEmailWarnings(rules, schema),
    ...unservedExists(rules, catalog),
    ...updateWarnings(rules, schema),
    ...defaultWarnings(schema),
    ...(isForD1(project) ? imageWarnings(schema) : []),
  ];
  const lists = waysOfRules(rules, schema, catalog);
  const scanned = withoutWays(config, rules, schema, catalog);
  return { problems: [...problems, ...scanned], warnings, lists, syncs: syncsOf(schema, rules, catalog) };
}

/**
 * Whether a Cloudflare Worker probably serves the project from D1: a configuration of wrangler next to it declares a D1
 * database, and svc.toml names no libSQL server.
 */
function isForD1({ directory, config }: ProjectDirectory): boolean {
  if (databaseFile(config, directory) === null) return false;
  return ["wrangler.toml", "wrangler.json", "wrangler.jsonc"]
    .map((file) => join(directory, file))
    .filter((file) => existsSync(file))
    .some((file) => /^\s*\[\[([\w.]+\.)?d1_databases\]\]|^\s*"d1_databases"/m.test(readFileSync(file, "utf8")));
}

/** What `svc check` learns from a database. */
interface Measured {
  /** What the database knows about the tables, such as their indexes. */
  readonly catalog: Catalog;
  /** Why operations of the project would not run on the database. */
  readonly problems: readonly Problem[];
  /** Of what a start would refuse in the database that is there. */
  readonly warnings: readonly Problem[];
}

/**
 * Asks the embedded database if this schema is in force there, because only it knows the collations of adopted tables.
 * Otherwise asks a new, empty database.
 */
async function measuredOf(
  project: ProjectDirectory,
  schema: Schema,
  environment: NodeJS.ProcessEnv,
): Promise<Measured> {
  const there = await measuredThere(project, environment);
  if (there.catalog !== null) return { ...there, catalog: there.catalog };
  const { catalog, problems } = await measuredOfNew(schema);
  return { catalog, problems: [...there.problems, ...problems], warnings: there.warnings };
}

async function unprovedIn(database: Database, schema: Schema): Promise<readonly Problem[]> {
  const proofs = await proveOperations(database, schema);
  return [...proofs.values()].flatMap(({ problems }) => problems);
}

/** `catalog` is null if the schema is not in force in an embedded database. */
async function measuredThere(
  project: ProjectDirectory,
  environment: NodeJS.ProcessEnv,
): Promise<Omit<Measured, "catalog"> & { readonly catalog: Catalog | null }> {
  const nothing = { catalog: null, problems: [], warnings: [] };
  const file = databaseFile(project.config, project.directory);
  if (file === null || !existsSync(file)) return nothing;
  try {
    const database = await openProjectDatabase(project, environment);
    try {
      const later = await releaseWarnings(database);
      if (later.length > 0) return { ...nothing, warnings: later };
      const inForce = await loadSchemaInForce(database);
      if (inForce?.text !== project.schemaText)
        return { ...nothing, warnings: await schemaWarnings(project, database, inForce) };
      return { catalog: inForce.catalog, problems: await unprovedIn(database, inForce.schema), warnings: [] };
    } finally {
      await database.close();
    }
  } catch (error) {
    if (error instanceof ProblemsError) return { ...nothing, problems: error.problems };
    return { ...nothing, warnings: [{ file: configFile, path: "database.url", message: (error as Error).message }] };
  }
}

/** Asks a new, empty database with the schema's ordinary tables. Operations that name a virtual table are left out. */
async function measuredOfNew(schema: Schema): Promise<Omit<Measured, "warnings">> {
  const database = openLibsql({ path: ":memory:", synchronous: "normal" });
  try {
    await applySafe(database, withoutVirtualTables(schema), { now: 0 });
    const isMissing = (name: string) =>
      [...schema.tables.values()].some((table) => table.virtual && table.name.toLowerCase() === name);
    const operations = new Map(
      [...schema.operations].filter(([, { steps }]) =>
        steps.every(({ statement }) => ![...statement.tables].some(isMissing)),
      ),
    );
    const problems = await unprovedIn(database, { ...schema, operations });
    return { catalog: await loadCatalog(database), problems };
  } finally {
    await database.close();
  }
}

function unreachableTables({ rules }: Config, schema: Schema): Problem[] {
  const actions = ["read", "create", "update", "delete", "history"] as const;
  return [...schema.tables.keys()]
    .filter((name) => actions.every((action) => rules.get(name)?.[action] === undefined))
    .map((name) => ({
      file: schemaFile,
      path: name,
      message: `has no rules, so nobody but API keys can reach it: write [rules.${name}] into svc.toml, such as read = "authenticated"`,
    }));
}

/**
 * The warnings about sign-in providers that a server's start would give, as far as files and the environment tell.
 * Whether the key in the environment opens the sealed credentials is not tried.
 */
async function signInWarnings(
  { directory, config }: ProjectDirectory,
  { auth: { providers } }: Schema,
  environment: NodeJS.ProcessEnv,
): Promise<Problem[]> {
  const installed = await credentialFiles(directory).list();
  const warning = (path: string, message: string) => ({ file: schemaFile, path, message });
  const missing = providers.flatMap((provider, index) => {
    const at = `$auth.providers.${index}`;
    if (!installed.includes(provider))
      return [warning(at, `${provider} is not offered, as it has no credentials: see svc auth provider set`)];
    return environment.SVC_PLATFORM_SECRETS_KEY
      ? []
      : [warning(at, `${provider} is not offered until SVC_PLATFORM_SECRETS_KEY, which opens it, is set`)];
  });
  const host = environment.HOST || config.server.host;
  const hasAddress = config.auth.public_base_url !== "" || Boolean(environment.SVC_GATEWAY_URL);
  const isReached = providers.length === 0 || hasAddress || isLoopbackHost(host);
  const address = `social sign-in needs the address that browsers reach the server at, not ${host}: set auth.public_base_url in svc.toml`;
  return isReached ? missing : [...missing, warning("$auth.providers", address)];
}
