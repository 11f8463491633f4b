import type { Schema } from "../../project/model.js";
import { schemaYaml } from "./schema-yaml.js";

/**
 * The text of the schema for a new database. Virtual tables are left out, because the schema file does not say how to
 * make them, and so are all triggers, because they may name one.
 */
export function withoutVirtualTables(schema: Schema): string {
  const ordinary = [...schema.tables].filter(([, { virtual }]) => !virtual);
  const tables = new Map(ordinary.map(([name, table]) => [name, { ...table, triggers: new Map() }]));
  return schemaYaml({ ...schema, tables });
}
