import type { Database } from "../platform/database.js";
import { ProblemsError } from "../problems/problem.js";
import { bringUpSystemTables } from "../schema/system/bring-up.js";
import { databaseFile } from "./database-file.js";
import { openLibsql } from "./libsql.js";
import { closeOwnFolder } from "./private-files.js";
import { type ProjectDirectory, withConfigLines } from "./project-directory.js";
import { stderrLog, systemClock, systemFetch } from "./system.js";

/** Who opens the database. */
export interface Surroundings {
  readonly environment: NodeJS.ProcessEnv;
  /** Whether a command opens it, beside a server that may be running on the same file. */
  readonly commandLine: boolean;
}

/**
 * Opens what `database.url` names: an embedded file, or a libSQL server with the token from the environment. First
 * makes the project's .svc folder private to its owner. Throws UnavailableError.
 */
export async function openProjectDatabase(
  { directory, config }: ProjectDirectory,
  { environment, commandLine }: Surroundings,
): Promise<Database> {
  const { url, auth_token_env, synchronous } = config.database;
  for (const open of closeOwnFolder(directory))
    stderrLog.warn(`${open} belongs to somebody else, and others can read it: make it its owner's alone`);
  const path = databaseFile(config, directory);
  if (path !== null) return openLibsql({ path, synchronous, commandLine });
  // Loaded only here, so that a start on an embedded file does not wait for this client.
  const { openRemoteLibsql } = await import("../remote/libsql.js");
  return openRemoteLibsql({ url, authToken: environment[auth_token_env] || null, fetch: systemFetch });
}

/**
 * Gives the database what it lacks of the server's own tables. Throws ProblemsError where a later release has migrated
 * the database; the problem has the line of svc.toml that names the database.
 */
export async function bringUpProjectDatabase(project: ProjectDirectory, database: Database): Promise<void> {
  const problem = await bringUpSystemTables(database, systemClock.now());
  if (problem !== null) throw new ProblemsError(withConfigLines(project, [problem]));
}
