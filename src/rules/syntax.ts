import type { CompareOperator, Literal } from "./ast.js";
import type { Extent, Place } from "./position.js";

/**
 * A rule after parsing. Its names are not resolved yet, and a comparison may still have conditions as its sides. Only
 * named conditions have parameters; `writeOut` puts values in their places where a rule uses them.
 */
export type Syntax =
  | LiteralSyntax
  | ReferenceSyntax
  | ParameterSyntax
  | (Placed & { readonly kind: "now" })
  | ShorthandSyntax
  | CompareSyntax
  | InSyntax
  | IsNullSyntax
  | (Placed & { readonly kind: "and" | "or"; readonly terms: readonly Syntax[] })
  | (Placed & { readonly kind: "not"; readonly term: Syntax })
  | ExistsSyntax
  | CallSyntax;

/**
 * What each part of a parsed rule has: `at`, its position for messages. That of a comparison or a `not in` is its
 * operator's, that of everything else where it begins.
 */
export interface Placed {
  readonly at: Place;
  /**
   * Where the part begins and ends in its own text, if it is a condition without `and`, `or` and `not` of its own, or a
   * `not in`. Values within such a condition have none.
   */
  readonly extent?: Extent;
}

/** A constant: `'text'`, `12`, `1.5`, `true`, `false` or `null`. */
export interface LiteralSyntax extends Placed {
  readonly kind: "literal";
  readonly value: Literal["value"];
}

/** A name with a dot: `row.owner_id`, `auth.id`, `member.room_id`. `source` is the part before the dot. */
export interface ReferenceSyntax extends Placed {
  readonly kind: "reference";
  readonly source: string;
  readonly name: string;
}

/** A parameter of a named condition, in the condition's text. */
export interface ParameterSyntax extends Placed {
  readonly kind: "parameter";
  readonly name: string;
}

/** `name(arguments)`: the use of a named condition. */
export interface CallSyntax extends Placed {
  readonly kind: "call";
  readonly name: string;
  readonly arguments: readonly Syntax[];
  /** In how many parentheses, `not` and `exists` the use stands, within the text that it is written in. */
  readonly depth: number;
  /**
   * The condition's parsed text, with the arguments in the place of its parameters. `writeOut` adds it; where it is
   * absent after that, `writeOut` has reported why.
   */
  readonly body?: Syntax;
}

/** A whole condition in one word, such as `public`, `authenticated` or `deny`. */
export interface ShorthandSyntax extends Placed {
  readonly kind: "shorthand";
  readonly name: "public" | "authenticated" | "deny";
}

/** A comparison, `left operator right`, such as `row.age >= 18`. */
export interface CompareSyntax extends Placed {
  readonly kind: "compare";
  readonly operator: CompareOperator;
  readonly left: Syntax;
  readonly right: Syntax;
}

/** `value in (list)`. `value not in (list)` becomes a `not` around this. */
export interface InSyntax extends Placed {
  readonly kind: "in";
  readonly value: Syntax;
  readonly list: readonly Syntax[];
}

/** `value is null`, or `value is not null` where it is negated. */
export interface IsNullSyntax extends Placed {
  readonly kind: "is_null";
  readonly value: Syntax;
  readonly negated: boolean;
}

/** `exists(table alias where condition)`. */
export interface ExistsSyntax extends Placed {
  readonly kind: "exists";
  readonly table: NameSyntax;
  readonly alias: NameSyntax;
  readonly where: Syntax;
}

/** The name of a table or an alias in a rule, with its position for messages. */
export interface NameSyntax extends Placed {
  readonly text: string;
}
