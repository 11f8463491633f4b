import { type Checked, check } from "./check.js";
import type { ParsedText } from "./parse.js";
import type { RuleProblem } from "./position.js";
import type { Scope } from "./scope.js";
import type { Syntax } from "./syntax.js";
import { writeOut } from "./write-out.js";

/**
 * Resolves the names and checks the types of the text of a rule or named condition. Each named condition that it uses
 * is written out first; of problems inside of those, only the first `insideMax` are reported. `values` has an
 * expression for each parameter of the checked text, by name. If there are problems, the returned expression must not
 * be used.
 */
export function checkText(text: ParsedText, scope: Scope, values: ReadonlyMap<string, Syntax> = new Map()): Checked {
  const written = writeOut(text, scope.conditions, { values, taken: scope.rows.keys() });
  const { expression, problems } = check(written.syntax, scope);
  return { expression, problems: withoutExcess([...written.problems, ...problems]) };
}

/**
 * How many problems inside of named conditions are reported for one text. One wrong argument can cause a problem at
 * thousands of places of a condition, and again in every rule that uses it, although the file is short.
 */
const insideMax = 20;

function withoutExcess(problems: readonly RuleProblem[]): readonly RuleProblem[] {
  const inside = problems.filter(({ at }) => at.written !== undefined);
  const excess = new Set(inside.slice(insideMax));
  return problems.filter((problem) => !excess.has(problem));
}
