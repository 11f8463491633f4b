import { projectId } from "../auth/store/oauth.js";
import { bringUpProjectDatabase, openProjectDatabase } from "../node/project-database.js";
import type { ProjectDirectory } from "../node/project-directory.js";
import type { Database } from "../platform/database.js";

/** Opens the project's database beside whatever server runs on it, and closes it in every case. */
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

/** As `withDatabase`, once the service's own tables are as this release has them. Throws ProblemsError. */
export function withSystemTables<T>(
  project: ProjectDirectory,
  use: (database: Database) => Promise<T>,
): Promise<T> {
  return withDatabase(project, async (database) => {
    await bringUpProjectDatabase(project, database);
    return use(database);
  });
}

/** The random id that sealed credentials are bound to. */
export function projectIdOf(project: ProjectDirectory): Promise<string> {
  return withSystemTables(project, async (database) => {
    const [found] = await database.query([projectId()]);
    return found!.rows[0]![0] as string;
  });
}
