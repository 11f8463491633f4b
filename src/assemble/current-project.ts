import { schemaVersion } from "../auth/store/checks.js";
import type { Refusal } from "../http/refusal.js";
import type { Database } from "../platform/database.js";
import { ask } from "../platform/query.js";
import type { LiveProject } from "../schema/live-project.js";
import type { ProjectSource } from "../schema/project-source.js";

/**
 * The project of the schema in force; a refusal if no schema can be served. It asks the database for the version in
 * force, unless the caller passes it.
 */
export async function currentProject(
  projects: ProjectSource,
  database: Database,
  known?: number | null,
): Promise<LiveProject | Refusal> {
  return projects.current(known === undefined ? await ask(database, schemaVersion()) : known);
}
