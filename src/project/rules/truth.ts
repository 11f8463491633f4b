import type { Expression, Literal } from "./ast.js";

export const TRUE: Literal = { kind: "literal", value: true };
export const FALSE: Literal = { kind: "literal", value: false };

export function truth(value: boolean): Literal {
  return value ? TRUE : FALSE;
}

export function isTrue(expression: Expression): boolean {
  return expression.kind === "literal" && expression.value === true;
}

export function isFalse(expression: Expression): boolean {
  return expression.kind === "literal" && expression.value === false;
}
