import { pointAt } from "../problems/point-at.js";

/** A place in a rule's text. Line and column count from 1; columns count UTF-16 code units, as editors do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/**
 * A place in a rule. Inside of a named condition that the rule uses, line and column are those of the use in the rule's
 * text, and `written` is the place in the condition's own text.
 */
export interface RulePosition extends Position {
  readonly written?: WrittenIn;
}

/** `key` is the condition's key in `[conditions]`, such as `member(room)`. */
export interface WrittenIn {
  readonly key: string;
  readonly at: Position;
}

/** A part of a text: its first position, and the one behind its last character. */
export interface Extent {
  readonly from: Position;
  readonly to: Position;
}

/** It does not say whose text the mistake is in; `parseRules` adds that. */
export interface RuleProblem {
  readonly at: RulePosition;
  readonly message: string;
}

/** The position of the first character of a text. */
export const startOfText: Position = { line: 1, column: 1 };

/** The position that follows the text `consumed`, which begins at `from`. */
export function advance(from: Position, consumed: string): Position {
  const lines = consumed.split("\n");
  const last = lines[lines.length - 1]!.length;
  return lines.length === 1
    ? { line: from.line, column: from.column + last }
    : { line: from.line + lines.length - 1, column: last + 1 };
}

/** How many UTF-16 code units of a text come before a position. */
export function offsetIn(text: string, { line, column }: Position): number {
  const before = text.split("\n").slice(0, line - 1);
  return before.reduce((sum, each) => sum + each.length + 1, column - 1);
}

/**
 * A problem for a person: the message, the line of the rule, and a caret below the place. Positions count within
 * `text`, which is that of a rule or of a named condition.
 */
export function formatRuleProblem(
  text: string,
  { at, message }: RuleProblem,
  of: "rule" | "condition" = "rule",
): string {
  return `${positionInWords(at, `the ${of}`)}: ${message}\n${pointAt(text, at)}`;
}

/** A position in words: `line 1, column 5 of the rule`. */
export function positionInWords({ line, column }: Position, text: string): string {
  return `line ${line}, column ${column} of ${text}`;
}
