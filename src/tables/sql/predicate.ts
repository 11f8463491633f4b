import { unscaledSql } from "../../platform/real-scale.js";
import type { ColumnReference, Exists, Expression, InGiven, Operand } from "../../rules/ast.js";
import type { CatalogTable } from "../../schema/catalog.js";
import { type ColumnName, sqlTableName } from "../../sqlite/names.js";
import type { Outside } from "../plan/exists-path.js";
import { aliasName, and, carried, commaList, name, or, param, Slot, type Sql, sql } from "../sql-text/fragment.js";
import { blobsAsLiterals } from "./wire.js";

/**
 * The SQL for what a rule names: the columns of `row`, `old` and `new`, and each `exists`. It depends on the statement
 * in which the rule is tested.
 */
export interface SqlNames extends Outside {
  /**
   * The SQL of a column of `row`: of the stored row. An update's rule is tested twice, with `row` as the row before the
   * update and as the row after it.
   */
  row(column: ColumnName): Sql;
  /** The SQL of a column of `old`: of the row before an update. */
  old(column: ColumnName): Sql;
  /** The SQL of a column of `new` in a rule: of the row as it would be after the write. */
  next(column: ColumnName): Sql;
  /** The SQL for an `exists`: a subquery, or a reference to a result that was found before (see `Probe`). */
  exists(exists: Exists): Sql;
  /** Whether the alias of an `exists` stands for a subquery; without this member, none does. */
  isCarried?(alias: string): boolean;
}

/** The `SqlNames` that throw for every name in a rule. Objects that know the SQL of some names are made from it. */
export const noNames: SqlNames = {
  row: unreachable,
  old: unreachable,
  next: unreachable,
  exists: unreachable,
  collations: new Map(),
  isSaid: ({ source }) => source === "new",
};

/**
 * Makes `SqlNames` that throw for every name in a rule, but know the collations of the table's columns. Objects that
 * know the SQL of some names are made from them.
 */
export function namesOf(physical: CatalogTable | undefined): SqlNames {
  return { ...noNames, collations: physical?.collations ?? noNames.collations };
}

function unreachable(): never {
  throw new Error("a rule names something that is not there for its action");
}

/** Makes the SQL of a condition, in which `auth` and `now()` have been replaced; throws for these. */
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
      const isEqual = operator === "=" || operator === "!=";
      const way = isEqual && ![left, right].some(isNumber) ? equally : inOrder;
      return sql`${operand(left, names, way)} ${operators[operator]} ${operand(right, names, way)}`;
    }
    case "in": {
      const list = expression.list.map((item) => operand(item, names));
      const way = expression.list.some(isNumber) ? inOrder : equally;
      return sql`${operand(expression.value, names, way)} IN (${commaList(list)})`;
    }
    case "is_null":
      return expression.negated
        ? sql`${operand(expression.value, names)} IS NOT NULL`
        : sql`${operand(expression.value, names)} IS NULL`;
    case "in_given":
      return sql`${operand(expression.value, names, isNumber(expression.list) ? inOrder : equally)} IN (${listed(expression)})`;
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
 * How a column is compared that the schema calls text but that may hold numbers, so that the result fits what the JSON
 * of rows shows. For `=` and `!=` a number is compared as its text. For `<` and the like it comes before every text.
 * The unary plus takes the column's affinity away, so that SQLite does not convert the other side.
 */
const equally = (column: Sql): Sql => sql`CAST(${column} AS TEXT)`;
const inOrder = (column: Sql): Sql => sql`+${column}`;

/** Whether a column of texts is compared with the operand as with a number: numbers are not made texts then. */
function isNumber(operand: Operand): boolean {
  return operand.kind === "given" && operand.isNumber === true;
}

function operand(value: Operand, names: SqlNames, shown = equally): Sql {
  switch (value.kind) {
    case "literal":
      return param(typeof value.value === "boolean" ? BigInt(value.value) : value.value);
    case "column":
      return comparedAs(value.asShown, reference(value, names), shown);
    case "given":
      return param(new Slot(value.name));
    case "auth":
    case "now":
      throw new Error("a rule is specialised for its caller before it becomes SQL");
  }
}

function comparedAs(kind: ColumnReference["asShown"], column: Sql, text: (column: Sql) => Sql): Sql {
  switch (kind) {
    case undefined:
      return column;
    case "text":
      return text(column);
    case "literal":
      return blobsAsLiterals(column, equally(column));
    case "bytes":
      return sql`CAST(${column} AS BLOB)`;
  }
}

function reference({ source, column }: ColumnReference, names: SqlNames): Sql {
  if (source === "row") return names.row(column);
  if (source === "old") return names.old(column);
  if (source === "new") return names.next(column);
  const called = names.isCarried?.(source.alias) ? carried(column) : name(column);
  return sql`${aliasName(source.alias)}.${called}`;
}

/**
 * Makes the SQL of a rule's `exists` as a subquery. In a rule, the table `$users` means the server's own table
 * `_users`, of which rules can name only the id and the role.
 */
export function existsSql({ table, alias, where }: Exists, names: SqlNames): Sql {
  const from = name(sqlTableName(table));
  return sql`EXISTS (SELECT 1 FROM ${from} AS ${aliasName(alias)} WHERE ${predicate(where, names)})`;
}

/**
 * Makes a SELECT of the items of the list in an `in` filter, one row with `item` for each. The whole list is one
 * parameter, a JSON array, because D1 allows 100 parameters at most.
 */
export function listed({ list, arePlain }: Pick<InGiven, "list" | "arePlain">): Sql {
  const items = param(new Slot(list.name));
  if (arePlain) return sql`SELECT value AS item FROM json_each(${items})`;
  const real: Sql = { text: unscaledSql("(value ->> 0)", "(value ->> 1)"), params: [] };
  return sql`SELECT CASE type WHEN 'array' THEN ${real} ELSE value END AS item FROM json_each(${items})`;
}
