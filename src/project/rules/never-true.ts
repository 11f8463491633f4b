import type { Expression } from "./ast.js";
import { isFalse, isTrue } from "./truth.js";
import { whenTrue } from "./when-true.js";

/** Whether the expression is FALSE or NULL for whatever row. It may miss some, such as `a < 1 and a > 2`. */
export function neverTrue(expression: Expression): boolean {
  return isFalse(whenTrue(expression));
}

/** Whether the expression is TRUE for whatever row. It may miss some, such as `a is null or a is not null`. */
export function alwaysTrue(expression: Expression): boolean {
  return isTrue(whenTrue(expression));
}
