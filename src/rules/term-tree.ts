import type { Expression } from "./ast.js";
import { check } from "./check.js";
import { parse } from "./parse.js";
import type { Extent } from "./position.js";
import type { Scope } from "./scope.js";
import type { Syntax } from "./syntax.js";
import { writeOut } from "./write-out.js";

/**
 * A rule as a tree of its terms, each with its place. A term is a condition that `and`, `or` and `not` join: a
 * comparison, an `in`, an `is null`, an `exists` as a whole, or a word such as `public`.
 */
export type TermTree =
  | { readonly kind: "term"; readonly expression: Expression; readonly place: TermPlace }
  | { readonly kind: "and" | "or"; readonly parts: readonly TermTree[] }
  | { readonly kind: "not"; readonly part: TermTree }
  /** A use of a named condition, whose text has the arguments in the place of its parameters. */
  | { readonly kind: "condition"; readonly part: TermTree; readonly place: TermPlace };

/** A place in the text of the rule, or of a named condition that the rule uses. */
export interface TermPlace extends Extent {
  /** The named condition's key in `[conditions]`, such as `member(room)`; null for the text of the rule itself. */
  readonly key: string | null;
}

/** Null if the text has problems. */
export function termTree(text: string, scope: Scope): TermTree | null {
  const parsed = parse(text, { conditions: scope.conditions, parameters: null });
  if (parsed.problem !== undefined) return null;
  const where = { values: new Map(), taken: scope.rows.keys() };
  const { syntax, problems } = writeOut(parsed, scope.conditions, where);
  const checked = check(syntax, scope);
  return problems.length + checked.problems.length === 0 ? treeOf(syntax, checked.expression) : null;
}

/**
 * Walks both at once. They have the same shape: `check` has made one node of the expression for each condition of the
 * parsed rule, but none for the use of a named condition.
 */
function treeOf(syntax: Syntax, expression: Expression): TermTree {
  switch (syntax.kind) {
    case "and":
    case "or": {
      const { terms } = expression as Extract<Expression, { readonly kind: "and" | "or" }>;
      return { kind: syntax.kind, parts: syntax.terms.map((term, i) => treeOf(term, terms[i]!)) };
    }
    case "not": {
      // A `not in` is parsed as a `not` around an `in`. It is one term: the whole of it has an extent.
      if (syntax.extent !== undefined) return termOf(syntax, expression);
      const { term } = expression as Extract<Expression, { readonly kind: "not" }>;
      return { kind: "not", part: treeOf(syntax.term, term) };
    }
    case "call":
      return { kind: "condition", part: treeOf(syntax.body!, expression), place: placeOf(syntax) };
    default:
      return termOf(syntax, expression);
  }
}

function termOf(syntax: Syntax, expression: Expression): TermTree {
  return { kind: "term", expression, place: placeOf(syntax) };
}

function placeOf({ at, extent }: Syntax): TermPlace {
  return { ...extent!, key: at.written?.key ?? null };
}
