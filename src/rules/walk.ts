import type { ColumnName } from "../sqlite/names.js";
import type { ColumnReference, Exists, Expression, Operand, RowName } from "./ast.js";

/** Every node of an expression, each before those inside of it, in the order in which they are written; inside `exists` too. */
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

/** A node that holds no other: neither a combination of others nor an `exists`. */
export type Leaf = Exclude<Expression, Exists | { readonly kind: "and" | "or" | "not" }>;

/** The leaves of an expression, inside `exists` too. */
export function leavesOf(expression: Expression): readonly Leaf[] {
  return walk(expression).filter((node): node is Leaf => isLeaf(node));
}

function isLeaf({ kind }: Expression): boolean {
  return kind !== "and" && kind !== "or" && kind !== "not" && kind !== "exists";
}

/** Every `exists` of an expression, inside others too. */
export function existsIn(expression: Expression): readonly Exists[] {
  return walk(expression).filter((node) => node.kind === "exists");
}

/** Every `exists` of an expression that no other one encloses. */
export function outermostExists(expression: Expression): readonly Exists[] {
  return expression.kind === "exists" ? [expression] : partsOf(expression).flatMap(outermostExists);
}

/** What has to be TRUE together: the terms of a top-level `and`, else the expression alone. */
export function conjuncts(expression: Expression): readonly Expression[] {
  return expression.kind === "and" ? expression.terms.flatMap(conjuncts) : [expression];
}

/** The operands of a leaf, from left to right. */
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
    case "starts_with":
      return [leaf.value, leaf.text];
    default:
      return [leaf];
  }
}

/** Every column that an expression names, inside `exists` too. */
export function columnReferences(expression: Expression): readonly ColumnReference[] {
  return leavesOf(expression)
    .flatMap(operandsOf)
    .filter((operand) => operand.kind === "column");
}

/** The columns of one row that an expression names, inside `exists` too. */
export function columnsOf(expression: Expression, source: RowName): ReadonlySet<ColumnName> {
  const own = columnReferences(expression).filter((reference) => reference.source === source);
  return new Set(own.map((reference) => reference.column));
}

/** Whether an expression names a column of the row, inside `exists` too. */
export function mentionsRow(expression: Expression, source: RowName): boolean {
  return columnsOf(expression, source).size > 0;
}

/**
 * The same expression with every operand replaced, inside `exists` too. What callers' filters compare with stays: it is
 * given when the statement runs.
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

/** Replaces columns, inside `exists` too. A replacement that names an alias must be in its reach. */
export function substitute(
  expression: Expression,
  replace: (reference: ColumnReference) => Operand,
): Expression {
  return mapOperands(expression, (operand) => (operand.kind === "column" ? replace(operand) : operand));
}
