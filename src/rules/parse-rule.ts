import type { Expression } from "./ast.js";
import { check } from "./check.js";
import { FALSE } from "./fold.js";
import { parse } from "./parse.js";
import type { RuleProblem } from "./position.js";
import type { Scope } from "./scope.js";

/** Parses and checks the text of one rule. With problems, the expression is the literal `false`, which denies. */
export function parseRule(text: string, scope: Scope): ParsedRule {
  const parsed = parse(text);
  if (parsed.problem !== undefined) return { expression: FALSE, problems: [parsed.problem] };
  const checked = check(parsed.syntax, scope);
  return checked.problems.length === 0 ? checked : { expression: FALSE, problems: checked.problems };
}

/** What `parseRule` returns. `problems` is empty for a valid rule. */
export interface ParsedRule {
  readonly expression: Expression;
  readonly problems: readonly RuleProblem[];
}
