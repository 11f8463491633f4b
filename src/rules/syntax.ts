import type { CompareOperator, Literal } from "./ast.js";
import type { Extent, RulePosition } from "./position.js";

/**
 * A rule after parsing. Its names are not resolved yet, and the sides of a comparison may still be conditions, which
 * the type check refuses. Parameters occur in the texts of named conditions, and in the conditions of an operation's
 * parameters; `writeOut` replaces them.
 */
export type Syntax =
  | LiteralSyntax
  | ReferenceSyntax
  | ParameterSyntax
  | (SyntaxNode & { readonly kind: "now" })
  | ShorthandSyntax
  | CompareSyntax
  | InSyntax
  | IsNullSyntax
  | (SyntaxNode & { readonly kind: "and" | "or"; readonly terms: readonly Syntax[] })
  | (SyntaxNode & { readonly kind: "not"; readonly term: Syntax })
  | ExistsSyntax
  | CallSyntax;

/**
 * `at` is the position that messages give: of a comparison and of a `not in` that of the operator, of any other part
 * that of its beginning.
 */
export interface SyntaxNode {
  readonly at: RulePosition;
  /**
   * Where the part begins and ends in its own text. A condition that consists of no other conditions has it, and so has
   * a `not in`. One that `and`, `or` or a preceding `not` makes of other conditions has none. The values within a
   * condition need none.
   */
  readonly extent?: Extent;
}

/** A constant: `'text'`, `12`, `1.5`, `true`, `false` or `null`. */
export interface LiteralSyntax extends SyntaxNode {
  readonly kind: "literal";
  readonly value: Literal["value"];
}

/** A name with a dot: `row.owner_id`, `auth.id`, `member.room_id`. `source` is the part before the dot. */
export interface ReferenceSyntax extends SyntaxNode {
  readonly kind: "reference";
  readonly source: string;
  readonly name: string;
}

/** A parameter of a named condition or of an operation. */
export interface ParameterSyntax extends SyntaxNode {
  readonly kind: "parameter";
  readonly name: string;
}

/** `name(arguments)`: the use of a named condition. */
export interface CallSyntax extends SyntaxNode {
  readonly kind: "call";
  readonly name: string;
  readonly arguments: readonly Syntax[];
  /** How many parentheses, `not` and `exists` there are around the use, within its text. */
  readonly depth: number;
  /**
   * The condition's text with the arguments in the place of its parameters. `writeOut` adds it, or else reports why
   * not.
   */
  readonly body?: Syntax;
}

/** A whole condition in one word. */
export interface ShorthandSyntax extends SyntaxNode {
  readonly kind: "shorthand";
  readonly name: "public" | "authenticated" | "deny";
}

/** Such as `row.age >= 18`. */
export interface CompareSyntax extends SyntaxNode {
  readonly kind: "compare";
  readonly operator: CompareOperator;
  readonly left: Syntax;
  readonly right: Syntax;
}

/** `value in (list)`. `value not in (list)` becomes a `not` around this. */
export interface InSyntax extends SyntaxNode {
  readonly kind: "in";
  readonly value: Syntax;
  readonly list: readonly Syntax[];
}

/** `value is null`, or `value is not null` if it is negated. */
export interface IsNullSyntax extends SyntaxNode {
  readonly kind: "is_null";
  readonly value: Syntax;
  readonly negated: boolean;
}

/** `exists(table alias where condition)`. */
export interface ExistsSyntax extends SyntaxNode {
  readonly kind: "exists";
  readonly table: NameSyntax;
  readonly alias: NameSyntax;
  readonly where: Syntax;
}

/** A table or an alias in an `exists`. */
export interface NameSyntax extends SyntaxNode {
  readonly text: string;
}
