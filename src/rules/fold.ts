import type { CompareOperator, Exists, Expression, Literal, Operand } from "./ast.js";
import { compareValues, type Value } from "./compare-values.js";

/**
 * An expression that is TRUE exactly where this one is, and simpler. Only TRUE admits (docs/reference/rules.md), so what is
 * FALSE and what is NULL need not be told apart, except under a `not`, which is TRUE where its term is FALSE alone:
 * negations are therefore pushed down to the leaves by `whenFalse`.
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

/** An expression that is TRUE exactly where this one is FALSE. */
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

/** Null for what only the row, the caller or the clock can tell. */
function constantOf(operand: Operand): Value | null {
  return operand.kind === "literal" ? operand.value : null;
}

/** What is equal to no element, NULL included, is not in the list. */
function membership(value: Operand, list: readonly Operand[]): Expression {
  if (list.some((item) => isTrue(comparison("=", value, item)))) return TRUE;
  const open = list.filter((item) => !isFalse(comparison("=", value, item)));
  return open.length === 0 ? FALSE : { kind: "in", value, list: open };
}

/** `in` is FALSE only where every element is known and differs. */
function absence(value: Operand, list: readonly Operand[]): Expression {
  if (list.some((item) => isFalse(comparison("!=", value, item)))) return FALSE;
  const open = list.filter((item) => !isTrue(comparison("!=", value, item)));
  return open.length === 0 ? TRUE : { kind: "not", term: { kind: "in", value, list: open } };
}

function nullTest(value: Operand, negated: boolean): Expression {
  if (value.kind === "literal") return truth((value.value === null) !== negated);
  return value.kind === "now" || value.kind === "given"
    ? truth(negated)
    : { kind: "is_null", value, negated };
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

/** The rows that count are those for which the condition is TRUE, under a `not` as well. */
function existence(expression: Exists): Expression {
  const where = whenTrue(expression.where);
  return isFalse(where) ? FALSE : { ...expression, where };
}

function nonexistence(expression: Exists): Expression {
  const term = existence(expression);
  return isFalse(term) ? TRUE : { kind: "not", term };
}

/** Whether the expression is FALSE or NULL for whatever row. It may miss some, such as `a < 1 and a > 2`. */
export function neverTrue(expression: Expression): boolean {
  return isFalse(whenTrue(expression));
}

/** Whether the expression is TRUE for whatever row. It may miss some, such as `a is null or a is not null`. */
export function alwaysTrue(expression: Expression): boolean {
  return isTrue(whenTrue(expression));
}

export const TRUE: Literal = { kind: "literal", value: true };
export const FALSE: Literal = { kind: "literal", value: false };

/** The literal TRUE or FALSE. */
export function truth(value: boolean): Literal {
  return value ? TRUE : FALSE;
}

export function isTrue(expression: Expression): boolean {
  return expression.kind === "literal" && expression.value === true;
}

function isFalse(expression: Expression): boolean {
  return expression.kind === "literal" && expression.value === false;
}
