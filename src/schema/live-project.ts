import type { Refusal } from "../http/refusal.js";
import type { Config } from "../project/config.js";
import type { NamedOperation, Schema, Table } from "../project/model.js";
import type { OperationRules } from "../project/parse-operation-rules.js";
import type { TableRules } from "../rules/ast.js";
import type { TableName } from "../sqlite/names.js";
import type { Catalog } from "./catalog.js";
import type { ProvedOperation } from "./prove-operations.js";

/** The project as requests use it: the schema in force, its rules, and the catalog of its tables. */
export interface LiveProject {
  readonly version: number;
  /** SHA-256 of the schema's text, in hex. */
  readonly hash: string;
  /** As it was applied. */
  readonly text: string;
  readonly schema: Schema;
  readonly catalog: Catalog;
  /** The rules as svc.toml has them. */
  readonly source: ServedRules;
  readonly rules: ReadonlyMap<TableName, TableRules>;
  /** The tables whose rules do not fit the schema, with the refusal of requests that depend on them. */
  readonly unfit: ReadonlyMap<TableName, Refusal>;
  readonly operations: ReadonlyMap<string, LiveOperation>;
}

/** The rules of svc.toml, and where they stand in it. */
export type ServedRules = Pick<Config, "rules" | "conditions" | "places">;

/** An operation as requests run it. `proof`: what an EXPLAIN of each step has shown. */
export interface LiveOperation {
  readonly operation: NamedOperation;
  readonly rules: OperationRules;
  readonly proof: ProvedOperation;
}

/** By the operations' names. */
export function operationRulesOf({ operations }: Pick<LiveProject, "operations">): ReadonlyMap<string, OperationRules> {
  return new Map([...operations].map(([name, { rules }]) => [name, rules]));
}

/**
 * Whether a table is virtual, or its writes need something that this database engine does not have
 * (docs/guides/existing-database.md).
 */
export function isReadOnly({ catalog }: Pick<LiveProject, "catalog">, { name, virtual }: Table): boolean {
  return virtual || catalog.unsupported.writes.has(name);
}
