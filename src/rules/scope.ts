import type { ColumnType } from "../sqlite/column-type.js";
import { type ColumnName, columnName, type TableName } from "../sqlite/names.js";
import type { RowName, RuleAction } from "./ast.js";

/** What the names in a rule can mean. */
export interface Scope {
  readonly tables: RowShapes;
  readonly kind: RuleKind;
  /** `row`, `old` and `new`, where the kind of rule has them, and the aliases of the enclosing `exists`. */
  readonly rows: ReadonlyMap<string, RowShape>;
}

/** What a rule is for, which decides the rows that it may name. */
export type RuleKind = RuleAction | "column";

/** The columns behind `row`, `old`, `new` or an alias. */
export interface RowShape {
  readonly table: TableName | "$users";
  readonly columns: ReadonlyMap<string, { readonly name: ColumnName; readonly type: ColumnType }>;
  /** Of a schema with problems: columns that it may have besides. */
  readonly unread: readonly string[] | "all";
}

/** The tables that an `exists` can look into, `$users` aside. */
export interface RowShapes {
  /** Null for a table that there is not. */
  shapeOf(table: string): RowShape | null;
  names(): Iterable<string>;
}

/** `row` is in read, update and delete rules, `new` in create and update, `old` in update, none in column rules. */
export function scopeOfRule(shape: RowShape, tables: RowShapes, kind: RuleKind): Scope {
  return { tables, kind, rows: new Map(sourcesOf[kind].map((source) => [source, shape])) };
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

/** What an `exists` looks into. Null for a table that there is not. */
export function tableShape({ tables }: Scope, name: string): RowShape | null {
  return name === "$users" ? users : tables.shapeOf(name);
}

/** The scope within an `exists`. */
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

/** docs/reference/rules.md: `$users` offers id and role. */
const users: RowShape = {
  table: "$users",
  columns: new Map(["id", "role"].map((name) => [name, { name: columnName(name), type: "text" as const }])),
  unread: [],
};
