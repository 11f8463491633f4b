import type { Exists, Expression } from "./ast.js";

/** What is neither a combination of others nor an `exists`. */
export type Leaf = Exclude<Expression, Exists | { readonly kind: "and" | "or" | "not" }>;

/** Of an expression, inside `exists` too. */
export function leavesOf(expression: Expression): readonly Leaf[] {
  switch (expression.kind) {
    case "and":
    case "or":
      return expression.terms.flatMap(leavesOf);
    case "not":
      return leavesOf(expression.term);
    case "exists":
      return leavesOf(expression.where);
    default:
      return [expression];
  }
}

/** Every `exists` of an expression, inside others too. */
export function existsIn(expression: Expression): readonly Exists[] {
  switch (expression.kind) {
    case "exists":
      return [expression, ...existsIn(expression.where)];
    case "not":
      return existsIn(expression.term);
    case "and":
    case "or":
      return expression.terms.flatMap(existsIn);
    default:
      return [];
  }
}
