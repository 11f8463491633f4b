import type { Database } from "../platform/database.js";
import { databaseFile } from "./database-file.js";
import { openLibsql } from "./libsql.js";
import { closeOwnFolder } from "./private-files.js";
import type { ProjectDirectory } from "./project-directory.js";
import { stderrLog, systemFetch } from "./system.js";

export interface Surroundings {
  readonly environment: NodeJS.ProcessEnv;
  /** Beside whatever server runs on the same file. */
  readonly commandLine: boolean;
}

/**
 * What `database.url` names: an embedded file, or a libSQL server with the token of the environment. Whoever opens it, the
 * project's own folder is its owner's alone.
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
  // Loaded here alone: a start on an embedded file need not wait for its client.
  const { openRemoteLibsql } = await import("../remote/libsql.js");
  return openRemoteLibsql({ url, authToken: environment[auth_token_env] || null, fetch: systemFetch });
}
