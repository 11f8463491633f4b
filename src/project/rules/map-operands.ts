import type { Expression, Operand } from "./ast.js";

/** The same expression with every operand replaced, inside `exists` too. */
export function mapOperands(expression: Expression, replace: (operand: Operand) => Operand): Expression {
  const again = (inner: Expression) => mapOperands(inner, replace);
  switch (expression.kind) {
    case "literal":
    case "column":
    case "auth":
    case "now":
    case "given":
      return replace(expression);
    case "compare":
      return { ...expression, left: replace(expression.left), right: replace(expression.right) };
    case "in":
      return { ...expression, value: replace(expression.value), list: expression.list.map(replace) };
    case "is_null":
      return { ...expression, value: replace(expression.value) };
    case "and":
    case "or":
      return { ...expression, terms: expression.terms.map(again) };
    case "not":
      return { ...expression, term: again(expression.term) };
    case "exists":
      return { ...expression, where: again(expression.where) };
  }
}
