import type { AuthValues, Expression, Literal, Operand } from "./ast.js";
import { neverTrue, whenTrue } from "./fold.js";
import { paramsSource } from "./scope.js";
import { type Leaf, leavesOf, mapOperands, substitute } from "./walk.js";

/**
 * The rule for one caller at one moment, simplified. For this caller and moment, it is TRUE for the same rows as the
 * rule itself. If no row is needed to decide it, the result is the literal `TRUE` or `FALSE`.
 */
export function specialise(expression: Expression, auth: AuthValues, nowSeconds: number): Expression {
  return whenTrue(withCaller(expression, auth, nowSeconds));
}

/**
 * The rule with the values of `auth` and `now()`. Nothing is simplified, so the result has the rule's own value for
 * every row, be it TRUE, FALSE or NULL.
 */
export function withCaller(expression: Expression, auth: AuthValues, nowSeconds: number): Expression {
  const now = { kind: "literal", value: BigInt(Math.floor(nowSeconds)) } as const;
  return mapOperands(bindAuth(expression, auth), (operand) => (operand.kind === "now" ? now : operand));
}

/**
 * A form of the rule that all callers of a role share, at any time, so that they can share one SQL statement; the role
 * null stands for anonymous callers. The values in which these callers differ are given only when the statement is
 * sent, by the names `auth.id`, `auth.email`, `auth.email_verified` and `now()`. With `emailVerified`, the form is for
 * those callers of the role whose address is confirmed (true) or is not (false). Null if there is no such form, because
 * one of the given values would decide a part of the rule without a row (`dependsOnPlaceholder`).
 */
export function specialiseForRole(
  expression: Expression,
  role: string | null,
  emailVerified?: boolean,
): Expression | null {
  const special = withNames(expression, role, emailVerified);
  return dependsOnPlaceholder(special) ? null : special;
}

function withNames(expression: Expression, role: string | null, emailVerified: boolean | undefined): Expression {
  return whenTrue(
    mapOperands(expression, (operand): Operand => {
      switch (operand.kind) {
        case "now":
          return { kind: "given", name: "now()" };
        case "auth":
          if (operand.field === "role" || role === null) return { kind: "literal", value: role };
          return operand.field === "email_verified" && emailVerified !== undefined
            ? { kind: "literal", value: emailVerified }
            : { kind: "given", name: `auth.${operand.field}` };
        case "literal":
        case "column":
        case "given":
          return operand;
      }
    }),
  );
}

/**
 * The forms of a rule that the callers of a role have, as `specialiseForRole` makes them: one for all of them, or else
 * one for those whose address is confirmed and one for the others. If these cannot share statements either, the rule
 * with the names of the values stands for them.
 */
export function formsForRole(expression: Expression, role: string | null): readonly Expression[] {
  const shared = specialiseForRole(expression, role);
  if (shared !== null) return [shared];
  return [true, false].map(
    (verified) => specialiseForRole(expression, role, verified) ?? withNames(expression, role, verified),
  );
}

/** A rule of an operation, or the condition of a parameter, with the values of `params`. */
export function withParams(expression: Expression, values: ReadonlyMap<string, Literal["value"]>): Expression {
  return substitute(expression, (reference) =>
    typeof reference.source === "object" && reference.source.alias === paramsSource
      ? { kind: "literal", value: values.get(reference.column) ?? null }
      : reference,
  );
}

/** Leaves `now()` as it is, and simplifies nothing. */
function bindAuth(expression: Expression, auth: AuthValues): Expression {
  return mapOperands(
    expression,
    (operand): Operand => (operand.kind === "auth" ? { kind: "literal", value: auth[operand.field] } : operand),
  );
}

/**
 * Whether the rule could be TRUE for an anonymous caller, for some row and at some time. If not, a request without
 * credentials is refused with 401 (`docs/reference/errors.md#401-403-or-404`).
 */
export function admitsAnonymous(expression: Expression): boolean {
  return !neverTrue(bindAuth(expression, { id: null, email: null, email_verified: null, role: null }));
}

/**
 * Whether a `given` value decides a condition without a row: it stands alone as a condition, is tested for NULL, or is
 * compared with anything but a column. A statement that many requests share is made without knowing the value, and so
 * without what it decides. Therefore such a rule needs a statement of its own for each request.
 */
export function dependsOnPlaceholder(expression: Expression): boolean {
  return leavesOf(expression).some(leafDependsOnPlaceholder);
}

function leafDependsOnPlaceholder(leaf: Leaf): boolean {
  switch (leaf.kind) {
    case "compare":
      return decides(leaf.left, leaf.right);
    case "in":
      return leaf.list.some((item) => decides(leaf.value, item));
    case "is_null":
      return leaf.value.kind === "given";
    case "in_given":
    case "contains":
    case "icontains":
    case "starts_with":
      return leaf.value.kind !== "column";
    case "given":
      return true;
    case "literal":
    case "column":
    case "auth":
    case "now":
      return false;
  }
}

function decides(left: Operand, right: Operand): boolean {
  return (left.kind === "given" && right.kind !== "column") || (right.kind === "given" && left.kind !== "column");
}
