import type { Schema, Table } from "../project/model.js";
import type { TableRules } from "../rules/ast.js";
import type { TableName } from "../sqlite/names.js";
import type { Catalog } from "./catalog.js";

/** The project as requests meet it: the schema in force, its rules, and what the database says of its tables. */
export interface LiveProject {
  readonly version: number;
  readonly schema: Schema;
  readonly catalog: Catalog;
  readonly rules: ReadonlyMap<TableName, TableRules>;
}

/** A virtual table, and one whose writes need what this engine does not have (docs/guides/existing-database.md). */
export function isReadOnly({ catalog }: Pick<LiveProject, "catalog">, { name, virtual }: Table): boolean {
  return virtual || catalog.unsupported.writes.has(name);
}
