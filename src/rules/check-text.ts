import { type Checked, check } from "./check.js";
import type { ParsedText } from "./parse.js";
import type { RuleProblem } from "./position.js";
import type { Scope } from "./scope.js";
import type { Syntax } from "./syntax.js";
import { writeOut } from "./write-out.js";

/**
 * Resolves the names and checks the types of the text of a rule or named condition. Each use of a named condition is
 * first replaced by that condition's text. Of problems inside of such replaced texts, only the first `insideMax` are
 * reported. `values` has an expression for each parameter of the checked text, by name. If there are problems, the
 * returned expression must not be used.
 */
export function checkText(
  text: ParsedText,
  scope: Scope,
  values: ReadonlyMap<string, Syntax> = new Map(),
): Checked {
  const written = writeOut(text, scope.conditions, { values, taken: scope.rows.keys() });
  const { expression, problems } = check(written.syntax, scope);
  return { expression, problems: withoutExcess([...written.problems, ...problems]) };
}

/**
 * How many problems inside of named conditions are reported for one text that uses them. One wrong argument can cause a
 * problem at thousands of places of a condition, and does so again in every rule that uses the condition, although the
 * file is short.
 */
const insideMax = 20;

function withoutExcess(problems: readonly RuleProblem[]): readonly RuleProblem[] {
  const inside = problems.filter(({ at }) => at.written !== undefined);
  const excess = new Set(inside.slice(insideMax));
  return problems.filter((problem) => !excess.has(problem));
}
