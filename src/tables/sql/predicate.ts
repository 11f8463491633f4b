import { unscaledSql } from "../../platform/real-scale.js";
import type { ColumnReference, Exists, Expression, InGiven, Operand } from "../../rules/ast.js";
import type { CatalogTable } from "../../schema/catalog.js";
import { type ColumnName, sqlTableName } from "../../sqlite/names.js";
import type { Outside } from "../exists-path.js";
import { aliasName, and, commaList, name, or, param, Slot, type Sql, sql } from "./fragment.js";

/** The SQL for each name in a rule, at the place where the rule's SQL is put. */
export interface SqlNames extends Outside {
  /**
   * The SQL of a column of `row`: of the stored row, or in an update rule first of the row before and then of the row
   * after.
   */
  row(column: ColumnName): Sql;
  /** The SQL of a column of `old`: of the row before an update. */
  old(column: ColumnName): Sql;
  /** The SQL of a column of `new`: of the row as it would be after the write. */
  next(column: ColumnName): Sql;
  /**
   * The SQL that stands for an `exists`: a subquery, or a reference to the result that a probe (see `Probe`) has found.
   */
  exists(exists: Exists): Sql;
}

/** The base for objects that know the SQL of some names in a rule: it throws for every name. */
export const noNames: SqlNames = {
  row: unreachable,
  old: unreachable,
  next: unreachable,
  exists: unreachable,
  collations: new Map(),
  isSaid: ({ source }) => source === "new",
};

/**
 * The base for objects that know the SQL of some names in a rule: it throws for every name, but knows the collations of
 * the table's columns.
 */
export function namesOf(physical: CatalogTable | undefined): SqlNames {
  return { ...noNames, collations: physical?.collations ?? noNames.collations };
}

function unreachable(): never {
  throw new Error("a rule names something that is not there for its action");
}

/**
 * The SQL of a condition. Throws for `auth` and `now()`, which have to be replaced by values or placeholders before.
 */
export function predicate(expression: Expression, names: SqlNames): Sql {
  switch (expression.kind) {
    case "literal":
    case "column":
    case "auth":
    case "now":
    case "given":
      return operand(expression, names);
    case "compare": {
      const { left, operator, right } = expression;
      const way = operator === "=" || operator === "!=" ? equally : inOrder;
      return sql`${operand(left, names, way)} ${operators[operator]} ${operand(right, names, way)}`;
    }
    case "in": {
      const list = expression.list.map((item) => operand(item, names));
      return sql`${operand(expression.value, names)} IN (${commaList(list)})`;
    }
    case "is_null":
      return expression.negated
        ? sql`${operand(expression.value, names)} IS NOT NULL`
        : sql`${operand(expression.value, names)} IS NULL`;
    case "in_given":
      return sql`${operand(expression.value, names)} IN (${listed(expression)})`;
    case "contains":
      return sql`instr(${operand(expression.value, names)}, ${operand(expression.text, names)}) > 0`;
    case "icontains":
      // SQLite's lower() changes ASCII letters alone, so `icontains` ignores the case of those only.
      return sql`instr(lower(${operand(expression.value, names)}), lower(${operand(expression.text, names)})) > 0`;
    case "starts_with": {
      const text = operand(expression.text, names);
      return sql`substr(${operand(expression.value, names)}, 1, length(${text})) = ${text}`;
    }
    case "and":
      return and(expression.terms.map((term) => predicate(term, names)));
    case "or":
      return or(expression.terms.map((term) => predicate(term, names)));
    case "not":
      return sql`NOT (${predicate(expression.term, names)})`;
    case "exists":
      return names.exists(expression);
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
 * How a column that may hold numbers as texts is compared as its JSON shows it. For equality, as the text that a number
 * is shown as. For order, as a number that comes before every text; the unary plus takes the column's affinity away, so
 * that SQLite does not convert the other side.
 */
const equally = (column: Sql): Sql => sql`CAST(${column} AS TEXT)`;
const inOrder = (column: Sql): Sql => sql`+${column}`;

function operand(value: Operand, names: SqlNames, shown = equally): Sql {
  switch (value.kind) {
    case "literal":
      return param(typeof value.value === "boolean" ? BigInt(value.value) : value.value);
    case "column":
      return value.asShown ? shown(reference(value, names)) : reference(value, names);
    case "given":
      return param(new Slot(value.name));
    case "auth":
    case "now":
      throw new Error("a rule is specialised for its caller before it becomes SQL");
  }
}

function reference({ source, column }: ColumnReference, names: SqlNames): Sql {
  if (source === "row") return names.row(column);
  if (source === "old") return names.old(column);
  if (source === "new") return names.next(column);
  return sql`${aliasName(source.alias)}.${name(column)}`;
}

/**
 * An `exists` of a rule as a subquery. `$users` is the server's own table `_users`, of which rules can name only id and
 * role.
 */
export function existsSql({ table, alias, where }: Exists, names: SqlNames): Sql {
  const from = name(sqlTableName(table));
  return sql`EXISTS (SELECT 1 FROM ${from} AS ${aliasName(alias)} WHERE ${predicate(where, names)})`;
}

/**
 * A SELECT of the items of an `in` list, each as `item`. The list is one parameter, a JSON array, because D1 allows 100
 * parameters at most.
 */
export function listed({ list, arePlain }: Pick<InGiven, "list" | "arePlain">): Sql {
  const items = param(new Slot(list.name));
  if (arePlain) return sql`SELECT value AS item FROM json_each(${items})`;
  const real: Sql = { text: unscaledSql("(value ->> 0)", "(value ->> 1)"), params: [] };
  return sql`SELECT CASE type WHEN 'array' THEN ${real} ELSE value END AS item FROM json_each(${items})`;
}
