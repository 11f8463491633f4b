import { schemaVersion } from "../auth/store/checks.js";
import type { Refusal } from "../http/refusal.js";
import type { Database } from "../platform/database.js";
import { ask } from "../platform/query.js";
import type { LiveProject } from "../schema/live-project.js";
import type { ProjectSource } from "../schema/project-source.js";

/**
 * Returns the project of the schema in force; a refusal where no schema can be served. To know the version in force it
 * asks the database, unless the caller passes the version that it has just read.
 */
export async function currentProject(
  projects: ProjectSource,
  database: Database,
  known?: number | null,
): Promise<LiveProject | Refusal> {
  return projects.current(known === undefined ? await ask(database, schemaVersion()) : known);
}
