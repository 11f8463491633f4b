import { pointAt } from "../problems/point-at.js";

/** A place in a rule's text. Both count from 1; a column is a UTF-16 code unit, as editors count. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Something wrong within one rule. `parseRules` adds which rule it was. */
export interface RuleProblem {
  readonly at: Position;
  readonly message: string;
}

/** Line 1, column 1. */
export const startOfText: Position = { line: 1, column: 1 };

/** Where the text behind `consumed` begins. */
export function advance(from: Position, consumed: string): Position {
  const lines = consumed.split("\n");
  const last = lines[lines.length - 1]!.length;
  return lines.length === 1
    ? { line: from.line, column: from.column + last }
    : { line: from.line + lines.length - 1, column: last + 1 };
}

/** With the words of the rule and a caret beneath: the place counts within the rule, not within the file. */
export function formatRuleProblem(rule: string, { at, message }: RuleProblem): string {
  return `line ${at.line}, column ${at.column} of the rule: ${message}\n${pointAt(rule, at)}`;
}
