import type { CompareOperator, Literal } from "./ast.js";
import type { Position } from "./position.js";

/** A rule as it is written: names are not resolved yet, and a comparison may still hold conditions. */
export type Syntax =
  | LiteralSyntax
  | ReferenceSyntax
  | (Placed & { readonly kind: "now" })
  | ShorthandSyntax
  | CompareSyntax
  | InSyntax
  | IsNullSyntax
  | (Placed & { readonly kind: "and" | "or"; readonly terms: readonly Syntax[] })
  | (Placed & { readonly kind: "not"; readonly term: Syntax })
  | ExistsSyntax;

/** A comparison is where its operator is, everything else where it begins. */
export interface Placed {
  readonly at: Position;
}

/** `'text'`, `1`, `1.5`, `true`, `null`. */
export interface LiteralSyntax extends Placed {
  readonly kind: "literal";
  readonly value: Literal["value"];
}

/** `row.owner_id`, `auth.id`, `member.room_id`. */
export interface ReferenceSyntax extends Placed {
  readonly kind: "reference";
  readonly source: string;
  readonly name: string;
}

/** A word that is a whole rule. */
export interface ShorthandSyntax extends Placed {
  readonly kind: "shorthand";
  readonly name: "public" | "authenticated" | "deny";
}

/** `a = b`. */
export interface CompareSyntax extends Placed {
  readonly kind: "compare";
  readonly operator: CompareOperator;
  readonly left: Syntax;
  readonly right: Syntax;
}

/** `a in (b, c)`. */
export interface InSyntax extends Placed {
  readonly kind: "in";
  readonly value: Syntax;
  readonly list: readonly Syntax[];
}

/** `a is null`, or `a is not null` where it is negated. */
export interface IsNullSyntax extends Placed {
  readonly kind: "is_null";
  readonly value: Syntax;
  readonly negated: boolean;
}

/** `exists(table alias where …)`. */
export interface ExistsSyntax extends Placed {
  readonly kind: "exists";
  readonly table: NameSyntax;
  readonly alias: NameSyntax;
  readonly where: Syntax;
}

/** A name in the place where it is written. */
export interface NameSyntax extends Placed {
  readonly text: string;
}
