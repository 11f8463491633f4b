import { projectId } from "../auth/store/oauth.js";
import { openProjectDatabase } from "../node/project-database.js";
import { type ProjectDirectory, withConfigLines } from "../node/project-directory.js";
import { systemClock } from "../node/system.js";
import type { Database } from "../platform/database.js";
import { ProblemsError } from "../problems/problem.js";
import { bringUpSystemTables } from "../schema/system/bring-up.js";

/** Opens the project's database, on which a server may be running, and closes it after `use` in any case. */
export async function withDatabase<T>(
  project: ProjectDirectory,
  use: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await openProjectDatabase(project, { environment: process.env, commandLine: true });
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}

/** Like `withDatabase`, but first migrates the server's own tables to this release. Throws ProblemsError. */
export function withSystemTables<T>(
  project: ProjectDirectory,
  use: (database: Database) => Promise<T>,
): Promise<T> {
  return withDatabase(project, async (database) => {
    const problem = await bringUpSystemTables(database, systemClock.now());
    if (problem !== null) throw new ProblemsError(withConfigLines(project, [problem]));
    return use(database);
  });
}

/** The project's random id, to which sealed credentials are bound. */
export function projectIdOf(project: ProjectDirectory): Promise<string> {
  return withSystemTables(project, async (database) => {
    const [found] = await database.query([projectId()]);
    return found!.rows[0]![0] as string;
  });
}
