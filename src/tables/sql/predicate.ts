import { unscaledSql } from "../../platform/real-scale.js";
import type { ColumnReference, Exists, Expression, Operand } from "../../rules/ast.js";
import type { CatalogTable } from "../../schema/catalog.js";
import { type ColumnName, sqlTableName } from "../../sqlite/names.js";
import type { Outside } from "../exists-path.js";
import { aliasName, and, commaList, name, or, param, Slot, type Sql, sql } from "./fragment.js";

/** What the names in a rule stand for at the place where its SQL will be. */
export interface SqlNames extends Outside {
  /** A column of the row that is judged: the stored one, or in an update rule each of the two below. */
  row(column: ColumnName): Sql;
  /** A column of the row before an update. */
  old(column: ColumnName): Sql;
  /** A column of the row as it would be. */
  next(column: ColumnName): Sql;
  /** What stands for an `exists`. */
  exists(exists: Exists): Sql;
}

/** Where nothing can be named; a base for names that know some of it. */
export const noNames: SqlNames = {
  row: unreachable,
  old: unreachable,
  next: unreachable,
  exists: unreachable,
  collations: new Map(),
  isSaid: ({ source }) => source === "new",
};

export function namesOf(physical: CatalogTable | undefined): SqlNames {
  return { ...noNames, collations: physical?.collations ?? noNames.collations };
}

function unreachable(): never {
  throw new Error("a rule names something that is not there for its action");
}

/** A specialised expression as a SQL predicate. */
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
    case "in_given": {
      const list = listed(param(new Slot(expression.list.name)), expression.arePlain);
      return sql`${operand(expression.value, names)} IN (${list})`;
    }
    case "contains":
      return sql`instr(${operand(expression.value, names)}, ${operand(expression.text, names)}) > 0`;
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
 * A number equals the text that it is shown as. In order it comes before every text, as it does in a list; the sign keeps
 * SQLite from making a number of the text.
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

/** `exists` as it stands in the rule; `$users` offers id and role of the server's own table. */
export function existsSql({ table, alias, where }: Exists, names: SqlNames): Sql {
  const from = name(sqlTableName(table));
  return sql`EXISTS (SELECT 1 FROM ${from} AS ${aliasName(alias)} WHERE ${predicate(where, names)})`;
}

/** One parameter however long the list is: D1 takes 100 of them. */
function listed(items: Sql, arePlain: boolean): Sql {
  if (arePlain) return sql`SELECT value FROM json_each(${items})`;
  const real: Sql = { text: unscaledSql("(value ->> 0)", "(value ->> 1)"), params: [] };
  return sql`SELECT CASE type WHEN 'array' THEN ${real} ELSE value END FROM json_each(${items})`;
}
