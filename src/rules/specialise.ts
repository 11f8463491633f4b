import type { AuthValues, Expression, Operand } from "./ast.js";
import { neverTrue, whenTrue } from "./fold.js";
import { leavesOf, mapOperands } from "./walk.js";

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

/**
 * The rule for every caller of a role at any time; a role of NULL is nobody's. What they differ in is given later, by the
 * names `auth.id`, `auth.email` and `now()`. Null where one of these decides something by itself.
 */
export function specialiseForRole(expression: Expression, role: string | null): Expression | null {
  const special = whenTrue(
    mapOperands(expression, (operand): Operand => {
      switch (operand.kind) {
        case "now":
          return { kind: "given", name: "now()" };
        case "auth":
          return operand.field === "role" || role === null
            ? { kind: "literal", value: role }
            : { kind: "given", name: `auth.${operand.field}` };
        case "literal":
        case "column":
        case "given":
          return operand;
      }
    }),
  );
  return hangsOnGiven(special) ? null : special;
}

/** Leaves `now()` as it is. */
function bindAuth(expression: Expression, auth: AuthValues): Expression {
  return mapOperands(
    expression,
    (operand): Operand =>
      operand.kind === "auth" ? { kind: "literal", value: auth[operand.field] } : operand,
  );
}

/**
 * Whether the rule can come out TRUE with `auth` all NULL, at whatever time (docs/reference/rules.md). Where it cannot, a
 * request without credentials is refused with 401.
 */
export function admitsAnonymous(expression: Expression): boolean {
  return !neverTrue(bindAuth(expression, { id: null, email: null, role: null }));
}

/** Whether a given value is compared with nothing that a row says, so that knowing it would decide something. */
export function hangsOnGiven(expression: Expression): boolean {
  return leavesOf(expression).some((leaf) => {
    switch (leaf.kind) {
      case "compare":
        return decides(leaf.left, leaf.right);
      case "in":
        return leaf.list.some((item) => decides(leaf.value, item));
      case "is_null":
        return leaf.value.kind === "given";
      default:
        return leaf.kind === "given";
    }
  });
}

function decides(left: Operand, right: Operand): boolean {
  return (
    (left.kind === "given" && right.kind !== "column") || (right.kind === "given" && left.kind !== "column")
  );
}
