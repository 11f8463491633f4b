import type { Expression } from "./ast.js";

/** What has to be TRUE together: the terms of a top-level `and`, else the expression alone. */
export function conjuncts(expression: Expression): readonly Expression[] {
  return expression.kind === "and" ? expression.terms.flatMap(conjuncts) : [expression];
}
