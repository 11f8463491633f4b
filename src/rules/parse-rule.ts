import type { Expression } from "./ast.js";
import { checkText } from "./check-text.js";
import { FALSE } from "./fold.js";
import { parse } from "./parse.js";
import type { RuleProblem } from "./position.js";
import type { Scope } from "./scope.js";

/**
 * Parses and checks the text of one rule, with the named conditions that it uses written out. With problems, the
 * expression is the literal `false`, which denies.
 */
export function parseRule(text: string, scope: Scope): ParsedRule {
  const parsed = parse(text, { conditions: scope.conditions, parameters: null });
  if (parsed.problem !== undefined) return { expression: FALSE, problems: [parsed.problem] };
  const checked = checkText(parsed, scope);
  return checked.problems.length === 0 ? checked : { expression: FALSE, problems: checked.problems };
}

/** What `parseRule` returns. `problems` is empty for a valid rule. */
export interface ParsedRule {
  readonly expression: Expression;
  readonly problems: readonly RuleProblem[];
}
