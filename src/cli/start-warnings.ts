import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isLoopbackHost } from "../http/loopback.js";
import { databaseFile } from "../node/database/database-file.js";
import type { ProjectDirectory } from "../node/project-directory.js";
import { readSurroundings } from "../node/surroundings.js";
import { isWithin } from "../node/within.js";
import type { Database } from "../platform/database.js";
import { type Problem, ProblemCollector, ProblemsError } from "../problems/problem.js";
import { readPort } from "../project/environment.js";
import { configFile, schemaFile } from "../project/file-names.js";
import { isMetered } from "../project/is-metered.js";
import { fitRules } from "../schema/fit-rules.js";
import type { SchemaInForce } from "../schema/in-force.js";
import { planChange } from "../schema/plan/plan.js";
import { proveOperations } from "../schema/prove-operations.js";
import { pendingMigrations } from "../schema/system/bring-up.js";
import { withoutWays } from "../tables/plan/without-ways.js";

/** Warns of what a start in this environment would refuse or miss: secrets, URLs, the port, TLS files, directories. */
export function surroundingWarnings(project: ProjectDirectory, environment: NodeJS.ProcessEnv): readonly Problem[] {
  const { server } = project.config;
  const collector = new ProblemCollector();
  const port = collector.read(() => readPort(environment)) ?? server.port;
  collector.read(() => readSurroundings(project, { host: environment.HOST || server.host, port, environment }));
  return [...collector.problems, ...tokenWarnings(project, environment), ...placeWarnings(project)];
}

/** Warns of a libSQL server on another machine without a token, because nearly all of them ask for one. */
function tokenWarnings({ config, directory }: ProjectDirectory, environment: NodeJS.ProcessEnv): Problem[] {
  const { url, auth_token_env } = config.database;
  if (databaseFile(config, directory) !== null || environment[auth_token_env]) return [];
  if (isLoopbackHost(new URL(url).hostname)) return [];
  const message = `the environment variable ${auth_token_env} is not set: it holds the token for ${url}`;
  return [{ file: configFile, path: "database.auth_token_env", message }];
}

/** Warns of directories that the server could not make or write. */
function placeWarnings({ config, directory }: ProjectDirectory): Problem[] {
  const file = databaseFile(config, directory);
  const written = [
    ...(file === null ? [] : [["database.url", dirname(file)] as const]),
    ...(isMetered(config) ? [["usage.journal_dir", resolve(directory, config.usage.journal_dir)] as const] : []),
    ...(config.mail.transport === "log" ? [["mail.log_dir", resolve(directory, config.mail.log_dir)] as const] : []),
  ];
  const unwritable = written.flatMap(([path, place]) => {
    const message = unwritableReason(place);
    return message === null ? [] : [{ file: configFile, path, message }];
  });
  // It may be a volume that is not mounted. A directory inside the project is normally missing before the first start.
  if (file === null || isWithin(directory, file) || existsSync(dirname(file))) return unwritable;
  const message = `there is no directory ${dirname(file)} yet: a start makes it, with an empty database. Is the path right, and its volume mounted?`;
  return [...unwritable, { file: configFile, path: "database.url", message }];
}

/** Looks at the nearest directory that exists, because a start makes the others. Null if it can be written. */
function unwritableReason(place: string): string | null {
  if (!existsSync(place)) return dirname(place) === place ? null : unwritableReason(dirname(place));
  if (!statSync(place).isDirectory()) return `${place} is not a directory`;
  try {
    accessSync(place, constants.W_OK);
    return null;
  } catch {
    return `${place} cannot be written by this user`;
  }
}

/**
 * Warns of what a start would find in a database in which another schema is in force than the file's, or none. A start
 * applies the file's schema if all steps are safe. Otherwise the schema in force stays, and the rules have to fit it.
 * Throws ProblemsError if the file's schema cannot be applied to the database at all.
 */
export async function schemaWarnings(
  { config, schemaText }: ProjectDirectory,
  database: Database,
  inForce: SchemaInForce | null,
): Promise<readonly Problem[]> {
  const planned = await planChange(database, schemaText);
  if (planned.outcome === "invalid") throw new ProblemsError(planned.problems);
  const waiting = planned.plan.steps.filter(({ safe }) => !safe).length;
  if (config.schema.auto_apply && waiting === 0) return [];
  const waits =
    waiting === 0
      ? "schema.auto_apply is false"
      : `${waiting} of its steps ${waiting === 1 ? "waits" : "wait"} for you`;
  const said = (problem: Omit<Problem, "file">) => ({ file: schemaFile, ...problem });
  const notInForce = said({ path: "", message: `not in force in the database, as ${waits}: see svc schema plan` });
  if (inForce === null) return [notInForce];
  const { rules, problems } = fitRules(config, inForce);
  const unproved = [...(await proveOperations(database, inForce.schema)).values()].flatMap((proof) => proof.problems);
  const refused = [...problems, ...unproved, ...withoutWays(config, rules, inForce.schema, inForce.catalog)];
  return [
    notInForce,
    ...refused.map((each) => ({ ...each, message: `a start fails until svc schema apply: ${each.message}` })),
  ];
}

/** Warns if a later release of the server has migrated the database, because a start then fails. */
export async function releaseWarnings(database: Database): Promise<readonly Problem[]> {
  const pending = await pendingMigrations(database);
  return pending.outcome === "later_release" ? [pending.problem] : [];
}
