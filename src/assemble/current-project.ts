import type { CheckedRow } from "../auth/callers/authenticate.js";
import { schemaVersionCheck } from "../auth/store/checks.js";
import type { Refusal } from "../http/refusal.js";
import type { Database } from "../platform/database.js";
import type { LiveProject } from "../schema/live-project.js";
import type { ProjectSource } from "../schema/project-source.js";

/**
 * The project of the schema in force; a refusal if no schema can be served. It asks the database for the version in
 * force, unless the caller passes the row that `schemaVersionCheck` has just returned.
 */
export async function currentProject(
  projects: ProjectSource,
  database: Database,
  known?: CheckedRow,
): Promise<LiveProject | Refusal> {
  const [version] = known ?? (await database.query([schemaVersionCheck()]))[0]!.rows[0]!;
  return projects.current(version as number | null);
}
