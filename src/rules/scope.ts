import type { ColumnType } from "../sqlite/column-type.js";
import { type ColumnName, columnName, type TableName } from "../sqlite/names.js";
import type { RowName, RuleAction } from "./ast.js";
import type { Conditions } from "./named-condition.js";

/** The names that a rule may use at one place, and what they mean. */
export interface Scope {
  readonly tables: RowShapes;
  readonly conditions: Conditions;
  /**
   * What the names are for: a rule of an action or a column, a named condition that is checked by itself, the rule of
   * an operation, or (`parameter`) the condition of an operation's parameter.
   */
  readonly kind: RuleKind | "condition" | "operation" | "parameter";
  /**
   * The rows whose columns the rule may name: `row`, `old` and `new`, if this kind of rule has them, `params` in rules
   * of operations, and the aliases of all `exists` around the place.
   */
  readonly rows: ReadonlyMap<string, RowShape>;
}

/** Rules of tables, by action, and rules of columns. */
export type RuleKind = RuleAction | "column";

/** The columns that a rule can name of one row. */
export interface RowShape {
  /** `params` if the columns are the parameters of an operation. */
  readonly table: TableName | "$users" | "params";
  readonly columns: ReadonlyMap<string, { readonly name: ColumnName; readonly type: ColumnType }>;
  /**
   * Further columns in the file that could not be read, because the file has problems; `all` if any name could be one.
   * A rule that names such a column is not reported for it.
   */
  readonly unread: ReadonlySet<string> | "all";
}

/** The tables that an `exists` in a rule can name. `$users` is not among them and is known without them. */
export interface RowShapes {
  /** Null if there is no such table. */
  shapeOf(table: string): RowShape | null;
  names(): Iterable<string>;
}

/**
 * The scope of a rule outside of any `exists`. `row` is in read, update, delete and history rules, `new` in create and
 * update rules, `old` in update rules; column rules have no row.
 */
export function scopeOfRule(shape: RowShape, tables: RowShapes, kind: RuleKind, conditions: Conditions): Scope {
  return { tables, kind, conditions, rows: new Map(sourcesOf[kind].map((source) => [source, shape])) };
}

/** The scope of a named condition that is checked by itself, without a use. It has no row. */
export function scopeOfCondition(tables: RowShapes, conditions: Conditions): Scope {
  return { tables, kind: "condition", conditions, rows: new Map() };
}

/** The name of an operation's parameters in its rules, as in `params.amount`. */
export const paramsSource = "params";

/** The scope of an operation's rule, or of the condition of one of its parameters. It has no row but `params`. */
export function scopeOfOperation(
  { columns, unread }: Pick<RowShape, "columns" | "unread">,
  tables: RowShapes,
  kind: "operation" | "parameter",
  conditions: Conditions,
): Scope {
  const shape: RowShape = { table: "params", columns, unread };
  return { tables, kind, conditions, rows: new Map([[paramsSource, shape]]) };
}

const sourcesOf: Readonly<Record<RuleKind, readonly RowName[]>> = {
  read: ["row"],
  create: ["new"],
  update: ["row", "old", "new"],
  delete: ["row"],
  history: ["row"],
  column: [],
};

const rowNames: readonly RowName[] = ["row", "old", "new"];

/**
 * Whether a name is reserved in rules, in upper or lower case. No alias, no named condition and no parameter of one may
 * be called so.
 */
export function isRowOrCaller(name: string): boolean {
  return [...rowNames, "auth", "$users"].includes(name.toLowerCase());
}

/** Whether a name is not an alias. */
export function isRowName(name: string): name is RowName {
  return rowNames.some((known) => known === name);
}

/** The columns of a table that an `exists` names; null if there is no such table. */
export function tableShape({ tables }: Scope, name: string): RowShape | null {
  return name === "$users" ? users : tables.shapeOf(name);
}

/** The scope inside of an `exists`: the names of the scope around it, and its alias. */
export function withAlias(scope: Scope, alias: string, shape: RowShape): Scope {
  return { ...scope, rows: new Map([...scope.rows, [alias, shape]]) };
}

/**
 * What is wrong with an alias, as a message. Aliases that differ only in case count as the same, because SQL compares
 * names without regard to case: in the SQL, an inner alias `M` would hide an outer alias `m`.
 */
export function aliasProblem(scope: Scope, alias: string): string | null {
  const lower = alias.toLowerCase();
  if (isRowOrCaller(alias)) return `${alias} cannot be an alias`;
  const taken = [...scope.rows.keys()].some((name) => name.toLowerCase() === lower);
  return taken ? `the alias ${alias} is taken by an enclosing exists` : null;
}

/** Rules may name only these two columns of the server's table of users (`docs/reference/rules.md#exists`). */
const users: RowShape = {
  table: "$users",
  columns: new Map(["id", "role"].map((name) => [name, { name: columnName(name), type: "text" as const }])),
  unread: new Set(),
};
