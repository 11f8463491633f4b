import type { ColumnName } from "../names.js";
import type { ColumnReference, Expression, Operand } from "./ast.js";

/** The columns of `row` or `new` that a rule names, inside `exists` too. */
export function columnsOf(expression: Expression, source: "row" | "new"): ReadonlySet<ColumnName> {
  const own = columnReferences(expression).filter((reference) => reference.source === source);
  return new Set(own.map((reference) => reference.column));
}

export function mentions(expression: Expression, source: "row" | "new"): boolean {
  return columnsOf(expression, source).size > 0;
}

function columnReferences(expression: Expression): readonly ColumnReference[] {
  switch (expression.kind) {
    case "literal":
    case "column":
    case "auth":
    case "now":
    case "given":
      return columnsAmong([expression]);
    case "compare":
      return columnsAmong([expression.left, expression.right]);
    case "in":
      return columnsAmong([expression.value, ...expression.list]);
    case "is_null":
      return columnsAmong([expression.value]);
    case "and":
    case "or":
      return expression.terms.flatMap(columnReferences);
    case "not":
      return columnReferences(expression.term);
    case "exists":
      return columnReferences(expression.where);
  }
}

function columnsAmong(operands: readonly Operand[]): readonly ColumnReference[] {
  return operands.filter((operand) => operand.kind === "column");
}
