import type { AuthReference, CompareOperator, Expression, Literal, Operand } from "../../../src/rules/ast.js";
import { columnName, tableName } from "../../../src/sqlite/names.js";

/** A rule as svc.toml has it, with a parenthesis around everything, so that its meaning hangs on no precedence. */
export function print(rule: Expression): string {
  switch (rule.kind) {
    case "literal":
      return printLiteral(rule.value);
    case "column":
      return `${typeof rule.source === "string" ? rule.source : rule.source.alias}.${rule.column}`;
    case "auth":
      return `auth.${rule.field}`;
    case "now":
      return "now()";
    case "compare":
      return `(${print(rule.left)} ${rule.operator} ${print(rule.right)})`;
    case "in":
      return `(${print(rule.value)} in (${rule.list.map(print).join(", ")}))`;
    case "is_null":
      return `(${print(rule.value)} is ${rule.negated ? "not " : ""}null)`;
    case "and":
    case "or":
      return `(${rule.terms.map(print).join(` ${rule.kind} `)})`;
    case "not":
      return `(not ${print(rule.term)})`;
    case "exists":
      return `exists(${rule.table} ${rule.alias} where ${print(rule.where)})`;
    default:
      throw new Error(`no rule is written with ${rule.kind}`);
  }
}

function printLiteral(value: Literal["value"]): string {
  if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
  return typeof value === "number" && Number.isInteger(value) ? value.toFixed(1) : String(value);
}

/** A column of `row`, `old`, `new` or of an alias. */
export function columnOf(source: string, column: string): Operand {
  const named = source === "row" || source === "old" || source === "new" ? source : ({ alias: source } as const);
  return { kind: "column", source: named, column: columnName(column) };
}

function operandOf(reference: string): Operand {
  const [source, name] = reference.split(".") as [string, string];
  return source === "auth" ? { kind: "auth", field: name as AuthReference["field"] } : columnOf(source, name);
}

export function exists(table: string, alias: string, where: Expression): Expression {
  return { kind: "exists", table: table === "$users" ? table : tableName(table), alias, where };
}

/** Short spellings for rules written by hand. A reference is `row.owner`, `auth.id` or `m.grp`. */
export const write = {
  literal: (value: Literal["value"]): Literal => ({ kind: "literal", value }),
  compare: (left: string, operator: CompareOperator, right: Operand | string): Expression => ({
    kind: "compare",
    operator,
    left: operandOf(left),
    right: typeof right === "string" ? operandOf(right) : right,
  }),
  isNull: (reference: string): Expression => ({
    kind: "is_null",
    value: operandOf(reference),
    negated: false,
  }),
  isNotNull: (reference: string): Expression => ({
    kind: "is_null",
    value: operandOf(reference),
    negated: true,
  }),
  oneOf: (reference: string, ...values: Literal["value"][]): Expression => ({
    kind: "in",
    value: operandOf(reference),
    list: values.map((value) => ({ kind: "literal", value })),
  }),
  and: (...terms: Expression[]): Expression => ({ kind: "and", terms }),
  or: (...terms: Expression[]): Expression => ({ kind: "or", terms }),
  not: (term: Expression): Expression => ({ kind: "not", term }),
  exists,
};
