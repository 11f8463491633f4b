import type { ColumnReference, Expression, Operand } from "./ast.js";
import { mapOperands } from "./map-operands.js";

/** Replaces columns, inside `exists` too. A replacement that names an alias must be in its reach. */
export function substitute(
  expression: Expression,
  replace: (reference: ColumnReference) => Operand,
): Expression {
  return mapOperands(expression, (operand) => (operand.kind === "column" ? replace(operand) : operand));
}
