import type { Database } from "../../src/platform/database.js";

/** Fills an empty database with one that an earlier release made: statements with an empty line between them. */
export async function thaw(database: Pick<Database, "batch">, frozen: string): Promise<void> {
  const statements = frozen.split(/;\n\n?/).filter((sql) => sql !== "");
  await database.batch(["PRAGMA defer_foreign_keys = on", ...statements].map((sql) => ({ sql, params: [] })));
}
