import { openLibsql } from "../node/libsql.js";
import { databasePath, type ProjectDirectory } from "../node/project-directory.js";
import type { Database } from "../platform/database.js";

/** Opens the project's database beside whatever server runs on it, and closes it in every case. */
export async function withDatabase<T>(
  project: ProjectDirectory,
  use: (database: Database) => Promise<T>,
): Promise<T> {
  const { synchronous } = project.config.database;
  const database = openLibsql({ path: databasePath(project), synchronous, commandLine: true });
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}
