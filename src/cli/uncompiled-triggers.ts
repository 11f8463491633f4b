import { openLibsql } from "../node/database/libsql.js";
import { StatementError } from "../platform/database.js";
import { dottedPath } from "../problems/dotted-path.js";
import type { Problem } from "../problems/problem.js";
import { schemaFile } from "../project/file-names.js";
import type { Schema } from "../project/model.js";
import { applySafe } from "../schema/apply.js";
import { triggerStatements } from "../schema/plan/trigger-steps.js";
import { schemaYaml } from "../schema/pull/schema-yaml.js";

/**
 * Finds triggers that SQLite cannot compile, such as one that names a missing column. Each is tried in a new database
 * with the schema's tables. If one of the tables is virtual, no trigger is tried, because only another program can make
 * that table.
 */
export async function uncompiledTriggers(schema: Schema): Promise<readonly Problem[]> {
  const tables = [...schema.tables.values()];
  if (tables.every(({ triggers }) => triggers.size === 0) || tables.some(({ virtual }) => virtual)) return [];
  const database = openLibsql({ path: ":memory:", synchronous: "normal" });
  try {
    const plain = tables.map((table) => ({ ...table, triggers: new Map<string, string>() }));
    const text = schemaYaml({ ...schema, tables: new Map(plain.map((table) => [table.name, table])) });
    if ((await applySafe(database, text, { now: 0 })).outcome === "refused") return [];
    const problems: Problem[] = [];
    for (const table of tables)
      for (const [name, trigger] of table.triggers) {
        const statements = triggerStatements(table, name, trigger).map((sql) => ({ sql, params: [] }));
        await database.batch(statements).catch((error: unknown) => {
          if (!(error instanceof StatementError)) throw error;
          const path = dottedPath([table.name, "triggers", name]);
          problems.push({ file: schemaFile, path, message: error.message });
        });
      }
    return problems;
  } finally {
    await database.close();
  }
}
