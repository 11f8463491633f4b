import type { Expression } from "./ast.js";
import { checkText } from "./check-text.js";
import { FALSE } from "./fold.js";
import { parse } from "./parse.js";
import { type RuleProblem, startOfText } from "./position.js";
import { paramsSource, type Scope } from "./scope.js";

/**
 * Parses and checks the text of one rule, with its named conditions written out. With problems, the expression is the
 * literal `false`, which denies.
 */
export function parseRule(text: string, scope: Scope): ParsedRule {
  const parsed = parse(text, { conditions: scope.conditions, parameters: null });
  if (parsed.problem !== undefined) return { expression: FALSE, problems: [parsed.problem] };
  const checked = checkText(parsed, scope);
  return checked.problems.length === 0 ? checked : { expression: FALSE, problems: checked.problems };
}

/**
 * Parses and checks the condition of an operation's parameter. Its text calls the operation's parameters by their own
 * names (`names`), and `scope` has them as columns of `params`. With problems, the expression is the literal `false`.
 */
export function parseParameterCheck(text: string, names: readonly string[], scope: Scope): ParsedRule {
  const parsed = parse(text, { conditions: scope.conditions, parameters: names });
  if (parsed.problem !== undefined) return { expression: FALSE, problems: [parsed.problem] };
  const values = new Map(
    names.map((name) => [name, { kind: "reference", source: paramsSource, name, at: startOfText } as const]),
  );
  const checked = checkText(parsed, scope, values);
  return checked.problems.length === 0 ? checked : { expression: FALSE, problems: checked.problems };
}

/** `problems` is empty for a valid text. */
export interface ParsedRule {
  readonly expression: Expression;
  readonly problems: readonly RuleProblem[];
}
