import type { AuthValues, Expression, Operand } from "./ast.js";
import { mapOperands } from "./map-operands.js";
import { whenTrue } from "./when-true.js";

/**
 * The rule for one caller at one moment, without `auth` and `now()`, and TRUE for the same rows. What is decided by the
 * caller alone is gone; a rule that admits nothing to them is the literal FALSE, one that admits everything TRUE.
 */
export function specialise(expression: Expression, auth: AuthValues, nowSeconds: number): Expression {
  const now = { kind: "literal", value: BigInt(Math.floor(nowSeconds)) } as const;
  return whenTrue(
    mapOperands(bindAuth(expression, auth), (operand) => (operand.kind === "now" ? now : operand)),
  );
}

/** Leaves `now()` as it is. */
export function bindAuth(expression: Expression, auth: AuthValues): Expression {
  return mapOperands(
    expression,
    (operand): Operand =>
      operand.kind === "auth" ? { kind: "literal", value: auth[operand.field] } : operand,
  );
}
