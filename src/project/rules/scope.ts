import type { ColumnType, Schema, Table } from "../model.js";
import { type ColumnName, columnName, type TableName } from "../names.js";
import { mayHaveTable, type UnreadTable, unreadColumns, unreadTable } from "../unread.js";
import type { RowName, RuleAction } from "./ast.js";

/** What the names in a rule can mean. */
export interface Scope {
  readonly schema: Schema;
  readonly kind: RuleKind;
  /** `row`, `old` and `new`, where the kind of rule has them, and the aliases of the enclosing `exists`. */
  readonly rows: ReadonlyMap<string, RowShape>;
}

export type RuleKind = RuleAction | "column";

/** The columns behind `row`, `old`, `new` or an alias. */
export interface RowShape {
  readonly table: TableName | "$users";
  readonly columns: ReadonlyMap<string, { readonly name: ColumnName; readonly type: ColumnType }>;
  /** Of a schema with problems: columns that it may have besides. */
  readonly unread: UnreadTable["columns"];
}

/** `row` is in read, update and delete rules, `new` in create and update, `old` in update, none in column rules. */
export function ruleScope(schema: Schema, table: Table, kind: RuleKind): Scope {
  const shape = shapeOf(schema, table);
  return { schema, kind, rows: new Map(sourcesOf[kind].map((source) => [source, shape])) };
}

const sourcesOf: Readonly<Record<RuleKind, readonly RowName[]>> = {
  read: ["row"],
  create: ["new"],
  update: ["row", "old", "new"],
  delete: ["row"],
  column: [],
};

const rowNames: readonly RowName[] = ["row", "old", "new"];

/** Whether the name is one of a rule's own rows, and no alias. */
export function isRowName(name: string): name is RowName {
  return rowNames.some((known) => known === name);
}

/** Null for a table that there is not. */
export function tableShape(schema: Schema, name: string): RowShape | null {
  if (name === "$users") return users;
  const table = schema.tables.get(name);
  if (table !== undefined) return shapeOf(schema, table);
  return mayHaveTable(schema, name) ? shapeOf(schema, unreadTable(name)) : null;
}

export function withAlias(scope: Scope, alias: string, shape: RowShape): Scope {
  return { ...scope, rows: new Map([...scope.rows, [alias, shape]]) };
}

/**
 * Null for an alias that may be used. SQL names regardless of case, so `M` inside `m` would hide it there even though
 * the rule tells the two apart.
 */
export function aliasProblem(scope: Scope, alias: string): string | null {
  const lower = alias.toLowerCase();
  if ([...rowNames, "auth", "$users"].includes(lower)) return `${alias} cannot be an alias`;
  const taken = [...scope.rows.keys()].some((name) => name.toLowerCase() === lower);
  return taken ? `the alias ${alias} is taken by an enclosing exists` : null;
}

function shapeOf(schema: Schema, { name, columns }: Table): RowShape {
  return { table: name, columns, unread: unreadColumns(schema, name) };
}

/** Interface, section 5: `$users` offers id and role. */
const users: RowShape = {
  table: "$users",
  columns: new Map(["id", "role"].map((name) => [name, { name: columnName(name), type: "text" as const }])),
  unread: [],
};
