import type { CompareOperator, Exists, Expression, Literal, Operand } from "./ast.js";
import { type Constant, compareValues } from "./compare-values.js";

/**
 * Simplifies an expression. The result is TRUE for the same rows. It may be NULL for rows for which the expression is
 * FALSE, and the reverse: that makes no difference, because only TRUE admits a row
 * (`docs/reference/rules.md#three-valued-truth`). Under a `not` it would make one, because `not` is TRUE if its term is
 * FALSE, but not if it is NULL. So `whenFalse` first moves every `not` down to the leaves.
 */
export function whenTrue(expression: Expression): Expression {
  switch (expression.kind) {
    case "literal":
      return truth(expression.value === true);
    case "column":
    case "auth":
    case "now":
    case "given":
      return comparison("=", expression, TRUE);
    case "compare":
      return comparison(expression.operator, expression.left, expression.right);
    case "in":
      return membership(expression.value, expression.list);
    case "is_null":
      return nullTest(expression.value, expression.negated);
    case "in_given":
    case "contains":
    case "icontains":
    case "starts_with":
      return expression;
    case "and":
      return conjunction(expression.terms.map(whenTrue));
    case "or":
      return disjunction(expression.terms.map(whenTrue));
    case "not":
      return whenFalse(expression.term);
    case "exists":
      return existence(expression);
  }
}

/** The result is TRUE exactly where the expression is FALSE. */
function whenFalse(expression: Expression): Expression {
  switch (expression.kind) {
    case "literal":
      return truth(expression.value === false);
    case "column":
    case "auth":
    case "now":
    case "given":
      return comparison("!=", expression, TRUE);
    case "compare":
      return comparison(opposite[expression.operator], expression.left, expression.right);
    case "in":
      return absence(expression.value, expression.list);
    case "is_null":
      return nullTest(expression.value, !expression.negated);
    case "in_given":
    case "contains":
    case "icontains":
    case "starts_with":
      return { kind: "not", term: expression };
    case "and":
      return disjunction(expression.terms.map(whenFalse));
    case "or":
      return conjunction(expression.terms.map(whenFalse));
    case "not":
      return whenTrue(expression.term);
    case "exists":
      return nonexistence(expression);
  }
}

const opposite: Readonly<Record<CompareOperator, CompareOperator>> = {
  "=": "!=",
  "!=": "=",
  "<": ">=",
  "<=": ">",
  ">": "<=",
  ">=": "<",
};

function comparison(operator: CompareOperator, left: Operand, right: Operand): Expression {
  if (isNull(left) || isNull(right)) return FALSE;
  const [leftValue, rightValue] = [constantOf(left), constantOf(right)];
  if (leftValue === null || rightValue === null) return { kind: "compare", operator, left, right };
  return truth(holds(operator, compareValues(leftValue, rightValue)));
}

function holds(operator: CompareOperator, order: number): boolean {
  switch (operator) {
    case "=":
      return order === 0;
    case "!=":
      return order !== 0;
    case "<":
      return order < 0;
    case "<=":
      return order <= 0;
    case ">":
      return order > 0;
    case ">=":
      return order >= 0;
  }
}

function isNull(operand: Operand): boolean {
  return operand.kind === "literal" && operand.value === null;
}

/** Null for operands that depend on the row, the caller or the time, and for the literal NULL. */
function constantOf(operand: Operand): Constant | null {
  return operand.kind === "literal" ? operand.value : null;
}

/**
 * TRUE where `value in list` is TRUE: an item equals the value. Items that cannot equal it are dropped, NULL among
 * them.
 */
function membership(value: Operand, list: readonly Operand[]): Expression {
  if (list.some((item) => isTrue(comparison("=", value, item)))) return TRUE;
  const open = list.filter((item) => !isFalse(comparison("=", value, item)));
  return open.length === 0 ? FALSE : { kind: "in", value, list: open };
}

/**
 * TRUE where `value in list` is FALSE: no item equals the value and none is NULL. Items that are certain to differ from
 * it are dropped.
 */
function absence(value: Operand, list: readonly Operand[]): Expression {
  if (list.some((item) => isFalse(comparison("!=", value, item)))) return FALSE;
  const open = list.filter((item) => !isTrue(comparison("!=", value, item)));
  return open.length === 0 ? TRUE : { kind: "not", term: { kind: "in", value, list: open } };
}

function nullTest(value: Operand, negated: boolean): Expression {
  if (value.kind === "literal") return truth((value.value === null) !== negated);
  return value.kind === "now" || value.kind === "given" ? truth(negated) : { kind: "is_null", value, negated };
}

function conjunction(terms: readonly Expression[]): Expression {
  const flat = terms.flatMap((term) => (term.kind === "and" ? term.terms : [term]));
  if (flat.some(isFalse)) return FALSE;
  const open = flat.filter((term) => !isTrue(term));
  return open.length > 1 ? { kind: "and", terms: open } : (open[0] ?? TRUE);
}

function disjunction(terms: readonly Expression[]): Expression {
  const flat = terms.flatMap((term) => (term.kind === "or" ? term.terms : [term]));
  if (flat.some(isTrue)) return TRUE;
  const open = flat.filter((term) => !isFalse(term));
  return open.length > 1 ? { kind: "or", terms: open } : (open[0] ?? FALSE);
}

/**
 * An `exists` under a `not`, too, looks for rows for which its condition is TRUE, so its condition is never negated.
 */
function existence(expression: Exists): Expression {
  const where = whenTrue(expression.where);
  return isFalse(where) ? FALSE : { ...expression, where };
}

function nonexistence(expression: Exists): Expression {
  const term = existence(expression);
  return isFalse(term) ? TRUE : { kind: "not", term };
}

/** Whether an expression is known to be TRUE for no row. Some are not recognised, such as `a < 1 and a > 2`. */
export function neverTrue(expression: Expression): boolean {
  return isFalse(whenTrue(expression));
}

/**
 * Whether an expression is known to be TRUE for every row. Some are not recognised, such as `a is null or a is not
 * null`.
 */
export function alwaysTrue(expression: Expression): boolean {
  return isTrue(whenTrue(expression));
}

/** The condition that admits every row. */
export const TRUE: Literal = { kind: "literal", value: true };
/** The condition that admits no row. */
export const FALSE: Literal = { kind: "literal", value: false };

function truth(value: boolean): Literal {
  return value ? TRUE : FALSE;
}

/** Whether an expression is the literal `true`, without simplifying it. */
export function isTrue(expression: Expression): boolean {
  return expression.kind === "literal" && expression.value === true;
}

/** Whether an expression is the literal `false`, without simplifying it. */
function isFalse(expression: Expression): boolean {
  return expression.kind === "literal" && expression.value === false;
}
