import type { ColumnName } from "../sqlite/names.js";
import type { ColumnReference, Exists, Expression, Operand, RowName } from "./ast.js";

/**
 * The expression, then its parts, each followed by parts of its own, in the order in which they are written. Conditions
 * inside of `exists` are included.
 */
export function walk(expression: Expression): readonly Expression[] {
  return [expression, ...partsOf(expression).flatMap(walk)];
}

function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case "and":
    case "or":
      return expression.terms;
    case "not":
      return [expression.term];
    case "exists":
      return [expression.where];
    default:
      return [];
  }
}

/** A condition that has no conditions as parts: not `and`, `or`, `not` or `exists`. */
export type Leaf = Exclude<Expression, Exists | { readonly kind: "and" | "or" | "not" }>;

/** Those inside of `exists` are included. */
export function leavesOf(expression: Expression): readonly Leaf[] {
  return walk(expression).filter((node): node is Leaf => isLeaf(node));
}

function isLeaf({ kind }: Expression): boolean {
  return kind !== "and" && kind !== "or" && kind !== "not" && kind !== "exists";
}

/** Every `exists` of an expression, those inside other ones included. */
export function existsIn(expression: Expression): readonly Exists[] {
  return walk(expression).filter((node) => node.kind === "exists");
}

/** Every `exists` of an expression that is not inside another one. */
export function outermostExists(expression: Expression): readonly Exists[] {
  return expression.kind === "exists" ? [expression] : partsOf(expression).flatMap(outermostExists);
}

/**
 * For every `exists` of an expression, those that it is inside of, from the outermost on, and last the `exists` itself.
 */
export function existsChains(expression: Expression, around: readonly Exists[] = []): readonly (readonly Exists[])[] {
  if (expression.kind !== "exists") return partsOf(expression).flatMap((part) => existsChains(part, around));
  const chain = [...around, expression];
  return [chain, ...existsChains(expression.where, chain)];
}

/**
 * The conditions that all have to be TRUE for an expression to be TRUE: the terms of an `and`, and of an `and` within
 * it, or else the expression alone.
 */
export function conjuncts(expression: Expression): readonly Expression[] {
  return expression.kind === "and" ? expression.terms.flatMap(conjuncts) : [expression];
}

/**
 * The conditions of which one has to be TRUE for an expression to be TRUE: the terms of an `or`, and of an `or` within
 * it, or else the expression alone.
 */
export function branches(expression: Expression): readonly Expression[] {
  return expression.kind === "or" ? expression.terms.flatMap(branches) : [expression];
}

/** The values that a leaf names or compares, from left to right. */
export function operandsOf(leaf: Leaf): readonly Operand[] {
  switch (leaf.kind) {
    case "compare":
      return [leaf.left, leaf.right];
    case "in":
      return [leaf.value, ...leaf.list];
    case "is_null":
      return [leaf.value];
    case "in_given":
      return [leaf.value, leaf.list];
    case "contains":
    case "icontains":
    case "starts_with":
      return [leaf.value, leaf.text];
    case "literal":
    case "column":
    case "auth":
    case "now":
    case "given":
      return [leaf];
  }
}

/** Every column that an expression names, inside of `exists` too, as often as it is named. */
export function columnReferences(expression: Expression): readonly ColumnReference[] {
  return leavesOf(expression)
    .flatMap(operandsOf)
    .filter((operand) => operand.kind === "column");
}

/** The columns of `source` that an expression names, inside of `exists` too. */
export function columnsOf(expression: Expression, source: RowName): ReadonlySet<ColumnName> {
  const own = columnReferences(expression).filter((reference) => reference.source === source);
  return new Set(own.map((reference) => reference.column));
}

/** Whether an expression names any column of `source`, inside of `exists` too. */
export function mentionsRow(expression: Expression, source: RowName): boolean {
  return columnsOf(expression, source).size > 0;
}

/**
 * Replaces every operand, inside of `exists` too. The `list` of `in_given` and the `text` of `contains`, `icontains`
 * and `starts_with` stay as they are.
 */
export function mapOperands(expression: Expression, replace: (operand: Operand) => Operand): Expression {
  const again = (inner: Expression) => mapOperands(inner, replace);
  switch (expression.kind) {
    case "literal":
    case "column":
    case "auth":
    case "now":
    case "given":
      return replace(expression);
    case "compare":
      return { ...expression, left: replace(expression.left), right: replace(expression.right) };
    case "in":
      return { ...expression, value: replace(expression.value), list: expression.list.map(replace) };
    case "is_null":
    case "in_given":
    case "contains":
    case "icontains":
    case "starts_with":
      return { ...expression, value: replace(expression.value) };
    case "and":
    case "or":
      return { ...expression, terms: expression.terms.map(again) };
    case "not":
      return { ...expression, term: again(expression.term) };
    case "exists":
      return { ...expression, where: again(expression.where) };
  }
}

/**
 * Replaces every column, inside of `exists` too. A column of an alias may be returned only for a place inside of the
 * `exists` that has this alias.
 */
export function substitute(expression: Expression, replace: (reference: ColumnReference) => Operand): Expression {
  return mapOperands(expression, (operand) => (operand.kind === "column" ? replace(operand) : operand));
}

/** Replaces each alias, in its `exists` and wherever a column of it is named. */
export function withAliases(expression: Expression, rename: (alias: string) => string): Expression {
  const named = substitute(expression, (reference) =>
    typeof reference.source === "object"
      ? { ...reference, source: { alias: rename(reference.source.alias) } }
      : reference,
  );
  return renamedExists(named, rename);
}

function renamedExists(expression: Expression, rename: (alias: string) => string): Expression {
  const again = (inner: Expression) => renamedExists(inner, rename);
  switch (expression.kind) {
    case "and":
    case "or":
      return { ...expression, terms: expression.terms.map(again) };
    case "not":
      return { ...expression, term: again(expression.term) };
    case "exists":
      return { ...expression, alias: rename(expression.alias), where: again(expression.where) };
    default:
      return expression;
  }
}
