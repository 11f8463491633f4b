import type { Conditions } from "./named-condition.js";
import { parse } from "./parse.js";
import { type Extent, offsetIn } from "./position.js";
import type { Syntax } from "./syntax.js";

/** A rule that was changed in one term, to see whether a test notices the difference. */
export interface Mutant {
  /** How the term was changed. `weakened`: the rule admits at least what it admitted before. */
  readonly change: "dropped" | "negated" | "weakened";
  /** The term in the text of the rule. */
  readonly extent: Extent;
  /** The whole text, with the changed term. */
  readonly text: string;
}

/**
 * Every mutant of the text of a rule, or of a named condition with these `parameters`: each of its terms dropped,
 * negated and weakened, inside of `exists` too. None for a text with mistakes of grammar.
 */
export function mutantsOf(
  text: string,
  conditions: Conditions,
  parameters: readonly string[] | null,
): readonly Mutant[] {
  const { syntax } = parse(text, { conditions, parameters });
  if (syntax === undefined) return [];
  const changes = changesOf(syntax, text, { joinedBy: null, isNegated: false });
  const seen = new Set([text]);
  return changes.flatMap(({ change, extent, by }) => {
    const mutated = text.slice(0, offsetIn(text, extent.from)) + by + text.slice(offsetIn(text, extent.to));
    if (seen.has(mutated)) return [];
    seen.add(mutated);
    return [{ change, extent, text: mutated }];
  });
}

interface Change {
  readonly change: Mutant["change"];
  readonly extent: Extent;
  /** What stands in the place of the term. */
  readonly by: string;
}

/** Where a term stands. */
interface Place {
  /** Null for a term that stands alone: as the whole rule, under `not`, or in an `exists`. */
  readonly joinedBy: "and" | "or" | null;
  /** Whether an odd number of `not` is around the term. */
  readonly isNegated: boolean;
}

function changesOf(syntax: Syntax, text: string, place: Place): readonly Change[] {
  const { kind, extent } = syntax;
  if (kind === "and" || kind === "or")
    return syntax.terms.flatMap((term) => changesOf(term, text, { ...place, joinedBy: kind }));
  // A `not in` has an extent: it is a term.
  if (kind === "not" && extent === undefined)
    return changesOf(syntax.term, text, { joinedBy: null, isNegated: !place.isNegated });
  const term = text.slice(offsetIn(text, extent!.from), offsetIn(text, extent!.to));
  const admitting = place.isNegated ? "false" : "true";
  const neutral = place.joinedBy === null ? admitting : String(place.joinedBy === "and");
  // A test cannot have a row with the time of the very second in which it runs.
  const isBound = kind === "compare" && syntax.left.kind !== "now" && syntax.right.kind !== "now";
  const bound = isBound ? otherBound(syntax.operator, place.isNegated) : null;
  const inner = kind === "exists" ? changesOf(syntax.where, text, { ...place, joinedBy: null }) : [];
  return [
    { change: "dropped", extent: extent!, by: neutral },
    { change: "negated", extent: extent!, by: `not (${term})` },
    { change: "weakened", extent: extent!, by: admitting },
    ...(bound === null ? [] : [{ change: "weakened" as const, extent: extent!, by: withOperator(term, bound) }]),
    ...inner,
  ];
}

/** The operator that admits the bound itself, too; under `not` the one that no longer does. Null where there is none. */
function otherBound(operator: string, isNegated: boolean): string | null {
  if (isNegated) return operator === "<=" || operator === ">=" ? operator[0]! : null;
  return operator === "<" || operator === ">" ? `${operator}=` : null;
}

/** The comparison with another operator. Texts in quotes are left as they are. */
function withOperator(comparison: string, operator: string): string {
  let isReplaced = false;
  return comparison.replace(/'(?:[^']|'')*'|[<>]=?/g, (found) => {
    if (found.startsWith("'") || isReplaced) return found;
    isReplaced = true;
    return operator;
  });
}
