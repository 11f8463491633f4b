import { unscaledSql } from "../../platform/real-scale.js";
import type { ColumnReference, Exists, Expression, Operand } from "../../rules/ast.js";
import type { CatalogTable } from "../../schema/catalog.js";
import type { ColumnName } from "../../sqlite/names.js";
import type { Outside } from "../exists-path.js";
import type { Condition } from "../list/access-path.js";
import { isEquality, type PlannedFilter } from "../list/planned-filter.js";
import { aliasName, and, commaList, name, or, type Param, param, Slot, type Sql, sql } from "./fragment.js";

/** What the names in a rule stand for at the place where its SQL will be. */
export interface Scope extends Outside {
  /** A column of the row that is judged: the stored one, or in an update rule each of the two below. */
  row(column: ColumnName): Sql;
  /** A column of the row before an update. */
  old(column: ColumnName): Sql;
  /** A column of the row as it would be. */
  next(column: ColumnName): Sql;
  /** What stands for an `exists`. */
  exists(exists: Exists): Sql;
}

/** Where nothing can be named; a base for scopes that know some of it. */
export const noScope: Scope = {
  row: unreachable,
  old: unreachable,
  next: unreachable,
  exists: unreachable,
  collations: new Map(),
  isSaid: ({ source }) => source === "new",
};

export function scopeOf(physical: CatalogTable | undefined): Scope {
  return { ...noScope, collations: physical?.collations ?? noScope.collations };
}

function unreachable(): never {
  throw new Error("a rule names something that is not there for its action");
}

/** A specialised expression as a SQL predicate. */
export function predicate(expression: Expression, scope: Scope): Sql {
  switch (expression.kind) {
    case "literal":
    case "column":
    case "auth":
    case "now":
    case "given":
      return operand(expression, scope);
    case "compare": {
      const { left, operator, right } = expression;
      const way = operator === "=" || operator === "!=" ? equally : inOrder;
      return sql`${operand(left, scope, way)} ${operators[operator]} ${operand(right, scope, way)}`;
    }
    case "in": {
      const list = expression.list.map((item) => operand(item, scope));
      return sql`${operand(expression.value, scope)} IN (${commaList(list)})`;
    }
    case "is_null":
      return expression.negated
        ? sql`${operand(expression.value, scope)} IS NOT NULL`
        : sql`${operand(expression.value, scope)} IS NULL`;
    case "and":
      return and(expression.terms.map((term) => predicate(term, scope)));
    case "or":
      return or(expression.terms.map((term) => predicate(term, scope)));
    case "not":
      return sql`NOT (${predicate(expression.term, scope)})`;
    case "exists":
      return scope.exists(expression);
  }
}

const operators = {
  "=": sql`=`,
  "!=": sql`<>`,
  "<": sql`<`,
  "<=": sql`<=`,
  ">": sql`>`,
  ">=": sql`>=`,
} as const;

/**
 * A number equals the text that it is shown as. In order it comes before every text, as it does in a list; the sign keeps
 * SQLite from making a number of the text.
 */
const equally = (column: Sql): Sql => sql`CAST(${column} AS TEXT)`;
const inOrder = (column: Sql): Sql => sql`+${column}`;

function operand(value: Operand, scope: Scope, shown = equally): Sql {
  switch (value.kind) {
    case "literal":
      return param(typeof value.value === "boolean" ? BigInt(value.value) : value.value);
    case "column":
      return value.asShown ? shown(reference(value, scope)) : reference(value, scope);
    case "given":
      return param(new Slot(value.name));
    case "auth":
    case "now":
      throw new Error("a rule is specialised for its caller before it becomes SQL");
  }
}

function reference({ source, column }: ColumnReference, scope: Scope): Sql {
  if (source === "row") return scope.row(column);
  if (source === "old") return scope.old(column);
  if (source === "new") return scope.next(column);
  return sql`${aliasName(source.alias)}.${name(column)}`;
}

/** `exists` as it stands in the rule; `$users` offers id and role of the server's own table. */
export function existsSql({ table, alias, where }: Exists, scope: Scope): Sql {
  const from = table === "$users" ? sql`_users` : name(table);
  return sql`EXISTS (SELECT 1 FROM ${from} AS ${aliasName(alias)} WHERE ${predicate(where, scope)})`;
}

/** A condition of a list over the columns that `row` gives. */
export function conditionSql(condition: Condition, scope: Scope): Sql {
  return condition.kind === "rule"
    ? predicate(condition.expression, scope)
    : filterSql(condition.filter, scope.row(condition.filter.column.name));
}

/** A caller's filter. Its comparisons are SQL's: a NULL matches `is_null` alone (interface, section 4). */
function filterSql(filter: PlannedFilter, stored: Sql): Sql {
  const column = filter.asShown ? (isEquality(filter.operator) ? equally : inOrder)(stored) : stored;
  switch (filter.operator) {
    case "eq":
      return sql`${column} = ${param(filter.value)}`;
    case "ne":
      return sql`${column} <> ${param(filter.value)}`;
    case "lt":
      return sql`${column} < ${param(filter.value)}`;
    case "lte":
      return sql`${column} <= ${param(filter.value)}`;
    case "gt":
      return sql`${column} > ${param(filter.value)}`;
    case "gte":
      return sql`${column} >= ${param(filter.value)}`;
    case "in":
      return sql`${column} IN (${listed(filter.items, filter.arePlain)})`;
    case "is_null":
      return filter.value ? sql`${column} IS NULL` : sql`${column} IS NOT NULL`;
    case "contains":
      return sql`instr(${column}, ${param(filter.value)}) > 0`;
    case "starts_with":
      return sql`substr(${column}, 1, length(${param(filter.value)})) = ${param(filter.value)}`;
  }
}

/** One parameter however long the list is: D1 takes 100 of them. */
function listed(items: Param, arePlain: boolean): Sql {
  if (arePlain) return sql`SELECT value FROM json_each(${param(items)})`;
  const real: Sql = { text: unscaledSql("(value ->> 0)", "(value ->> 1)"), params: [] };
  return sql`SELECT CASE type WHEN 'array' THEN ${real} ELSE value END FROM json_each(${param(items)})`;
}
