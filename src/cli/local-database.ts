import { projectId } from "../auth/store/oauth.js";
import { bringUpProjectDatabase, openProjectDatabase } from "../node/project-database.js";
import type { ProjectDirectory } from "../node/project-directory.js";
import type { Database } from "../platform/database.js";
import { ask } from "../platform/query.js";

/** Runs `use` with the project's database, on which a server may be running, and closes it in any case. */
export async function withDatabase<T>(project: ProjectDirectory, use: (database: Database) => Promise<T>): Promise<T> {
  const database = await openProjectDatabase(project, process.env);
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}

/**
 * Like `withDatabase`, but first migrates the server's own tables to this release. Throws ProblemsError if a later
 * release has migrated the database.
 */
export function withSystemTables<T>(project: ProjectDirectory, use: (database: Database) => Promise<T>): Promise<T> {
  return withDatabase(project, async (database) => {
    await bringUpProjectDatabase(project, database);
    return use(database);
  });
}

/**
 * The project's random id from its database. Sealed credentials of sign-in providers open only for the project with the
 * same id.
 */
export function projectIdOf(project: ProjectDirectory): Promise<string> {
  return withSystemTables(project, (database) => ask(database, projectId()));
}
