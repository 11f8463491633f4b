import type { Expression, Operand } from "./ast.js";

/** Whether a given value is compared with nothing that a row says, so that knowing it would decide something. */
export function hangsOnGiven(expression: Expression): boolean {
  switch (expression.kind) {
    case "given":
      return true;
    case "literal":
    case "column":
    case "auth":
    case "now":
      return false;
    case "compare":
      return decides(expression.left, expression.right);
    case "in":
      return expression.list.some((item) => decides(expression.value, item));
    case "is_null":
      return expression.value.kind === "given";
    case "and":
    case "or":
      return expression.terms.some(hangsOnGiven);
    case "not":
      return hangsOnGiven(expression.term);
    case "exists":
      return hangsOnGiven(expression.where);
  }
}

function decides(left: Operand, right: Operand): boolean {
  return (
    (left.kind === "given" && right.kind !== "column") || (right.kind === "given" && left.kind !== "column")
  );
}
