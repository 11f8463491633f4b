import { pointAt } from "../problems/point-at.js";

/** A place in a rule's text. Line and column count from 1; columns count UTF-16 code units, as editors do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A mistake in one rule. It does not say in which rule; `parseRules` adds that. */
export interface RuleProblem {
  readonly at: Position;
  readonly message: string;
}

/** The position of the first character. */
export const startOfText: Position = { line: 1, column: 1 };

/** The position that follows the text `consumed`, which begins at `from`. */
export function advance(from: Position, consumed: string): Position {
  const lines = consumed.split("\n");
  const last = lines[lines.length - 1]!.length;
  return lines.length === 1
    ? { line: from.line, column: from.column + last }
    : { line: from.line + lines.length - 1, column: last + 1 };
}

/**
 * A problem for a person: the message, the line of the rule, and a caret below the place. Positions count within the
 * rule.
 */
export function formatRuleProblem(rule: string, { at, message }: RuleProblem): string {
  return `line ${at.line}, column ${at.column} of the rule: ${message}\n${pointAt(rule, at)}`;
}
