import type { Expression } from "../rules/ast.js";
import type { TermTree } from "../rules/term-tree.js";

/** The value of a term, null for NULL; undefined where it was not found out. */
export type Truth = boolean | null | undefined;

/** A term of a rule's tree, or the use of a named condition in the rule. */
export type TermOrUse = Extract<TermTree, { readonly kind: "term" | "condition" }>;
/** A term of a rule's tree: a condition that the rule joins to others by `and`, `or` and `not`. */
export type Term = Extract<TermTree, { readonly kind: "term" }>;

/**
 * Returns the terms of a rule's tree and the uses of named conditions in it, in the order in which they are written.
 * The terms of a named condition come after its use.
 */
export function termsAndUsesIn(tree: TermTree): readonly TermOrUse[] {
  switch (tree.kind) {
    case "term":
      return [tree];
    case "condition":
      return [tree, ...termsAndUsesIn(tree.part)];
    case "not":
      return termsAndUsesIn(tree.part);
    case "and":
    case "or":
      return tree.parts.flatMap(termsAndUsesIn);
  }
}

/** Returns the terms of a rule's tree, in the order in which they are written. */
export function termsIn(tree: TermTree): readonly Term[] {
  return termsAndUsesIn(tree).filter((each) => each.kind === "term");
}

/** Returns the condition that a rule's tree, or a part of it, stands for, as one expression. */
export function expressionOf(tree: TermTree): Expression {
  switch (tree.kind) {
    case "term":
      return tree.expression;
    case "condition":
      return expressionOf(tree.part);
    case "not":
      return { kind: "not", term: expressionOf(tree.part) };
    case "and":
    case "or":
      return { kind: tree.kind, terms: tree.parts.map(expressionOf) };
  }
}

/**
 * Works out the value of a rule's tree, by SQL's three-valued logic, from the values of its terms. Undefined where it
 * depends on a term whose value was not found out.
 */
export function truthOf(tree: TermTree, terms: ReadonlyMap<TermTree, Truth>): Truth {
  switch (tree.kind) {
    case "term":
      return terms.get(tree);
    case "condition":
      return truthOf(tree.part, terms);
    case "not":
      return not(truthOf(tree.part, terms));
    case "and":
      return not(anyOf(tree.parts.map((part) => not(truthOf(part, terms)))));
    case "or":
      return anyOf(tree.parts.map((part) => truthOf(part, terms)));
  }
}

function anyOf(truths: readonly Truth[]): Truth {
  if (truths.includes(true)) return true;
  if (truths.includes(undefined)) return undefined;
  return truths.includes(null) ? null : false;
}

function not(truth: Truth): Truth {
  return truth === undefined || truth === null ? truth : !truth;
}

/**
 * Returns the word for the value of a rule in an explanation: TRUE, FALSE or NULL. `not TRUE` where the database
 * refused the row, but which of the last two the value is was not found out.
 */
export function truthWord(truth: Truth): string {
  if (truth === undefined) return "not TRUE";
  return truth === null ? "NULL" : truth ? "TRUE" : "FALSE";
}

/** Reads the values of terms that the database returns as digits in one text: 1 for TRUE, 0 for FALSE, 2 for NULL. */
export function truthsIn(digits: string): readonly Truth[] {
  return [...digits].map((digit) => (digit === "2" ? null : digit === "1"));
}
