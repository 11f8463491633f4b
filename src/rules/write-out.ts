import { meantOrKnown } from "../problems/did-you-mean.js";
import { dottedPath } from "../problems/dotted-path.js";
import { literalText } from "./literal-text.js";
import type { Conditions, NamedCondition } from "./named-condition.js";
import { type ParsedText, textLengthMax, tooLong } from "./parse.js";
import type { Place, Position, RuleProblem, WrittenIn } from "./position.js";
import type { CallSyntax, ExistsSyntax, NameSyntax, ParameterSyntax, Syntax } from "./syntax.js";
import { nestingMax, tooDeep } from "./token-reader.js";

/**
 * Writes out the named conditions that a text uses: each use gets the condition's text as its `body`, with the
 * arguments in the place of the parameters. An alias in a condition that an enclosing `exists` has too is renamed, so
 * that an argument goes on meaning what it means where it is written. A use that cannot be written out is reported and
 * has no body.
 *
 * Written out, the text has at most `textLengthMax` characters and is nested at most `nestingMax` deep, as if somebody
 * had written it so. This bounds the work, too, whatever the conditions use.
 */
export function writeOut(
  { syntax, length }: ParsedText,
  conditions: Conditions,
  { values, taken }: WhereWritten,
): WrittenOut {
  const run: Run = { conditions, problems: [], broken: new Set(), left: textLengthMax - length };
  const names = new Set([...taken].map((name) => name.toLowerCase()));
  const around = { use: null, values, aliases: new Map(), taken: names, depth: 0 };
  return { syntax: writtenOut(syntax, around, run), problems: run.problems };
}

/** What `writeOut` has to know of the place that a text is written in. */
export interface WhereWritten {
  /** What the parameters of the text itself stand for, by their names. */
  readonly values: ReadonlyMap<string, Syntax>;
  /** The names of rows, such as `row`, that the text can use. No alias of a condition may be called so. */
  readonly taken: Iterable<string>;
}

/** What `writeOut` returns: the text with its named conditions written out, and the problems of doing so. */
export interface WrittenOut {
  readonly syntax: Syntax;
  readonly problems: readonly RuleProblem[];
}

/** What one call of `writeOut` keeps track of. */
interface Run {
  readonly conditions: Conditions;
  readonly problems: RuleProblem[];
  /** The conditions with problems of their own for which a use was reported. Further uses of them are not reported. */
  readonly broken: Set<string>;
  /** How many characters the text may still grow by. */
  left: number;
}

/** What is known at one place while a text is written out: in the given text, or inside of a condition that it uses. */
interface Around {
  /**
   * Where the given text uses, directly or through others, the condition inside of which this is, and that condition's
   * key. Null in the given text itself.
   */
  readonly use: { readonly at: Position; readonly key: string } | null;
  /** The arguments of the condition inside of which this is, by the names of its parameters. */
  readonly values: ReadonlyMap<string, Syntax>;
  /** What the aliases of the text that is being written out are called after renaming, by their old names. */
  readonly aliases: ReadonlyMap<string, string>;
  /** The aliases of all enclosing `exists` after renaming, in lower case. */
  readonly taken: ReadonlySet<string>;
  /** How deep the text that is being written out stands nested in the given one. */
  readonly depth: number;
}

function writtenOut(syntax: Syntax, around: Around, run: Run): Syntax {
  const again = (part: Syntax) => writtenOut(part, around, run);
  const at = placeOf(syntax.at, around);
  switch (syntax.kind) {
    case "literal":
    case "shorthand":
    case "now":
      return { ...syntax, at };
    case "reference":
      return { ...syntax, source: around.aliases.get(syntax.source) ?? syntax.source, at };
    case "parameter":
      return argument({ ...syntax, at }, around, run);
    case "compare":
      return { ...syntax, left: again(syntax.left), right: again(syntax.right), at };
    case "in":
      return { ...syntax, value: again(syntax.value), list: syntax.list.map(again), at };
    case "is_null":
      return { ...syntax, value: again(syntax.value), at };
    case "and":
    case "or":
      return { ...syntax, terms: syntax.terms.map(again), at };
    case "not":
      return { ...syntax, term: again(syntax.term), at };
    case "exists":
      return exists({ ...syntax, at }, around, run);
    case "call":
      return call({ ...syntax, arguments: syntax.arguments.map(again), at }, around, run);
  }
}

function placeOf(at: Place, { use }: Around): Place {
  return use === null ? at : { ...use.at, written: { key: use.key, at } };
}

/**
 * The argument that a parameter of a condition stands for. Without one it stays a parameter, as where a condition is
 * checked by itself.
 */
function argument(parameter: ParameterSyntax, { values }: Around, run: Run): Syntax {
  const value = values.get(parameter.name);
  if (value === undefined) return parameter;
  spend(lengthOf(value), parameter.at, run);
  const { at, extent } = parameter;
  return { ...value, at, ...(extent && { extent }) };
}

function lengthOf(value: Syntax): number {
  if (value.kind === "literal") return literalText(value.value).length;
  return value.kind === "reference" ? value.source.length + 1 + value.name.length : 0;
}

function exists(syntax: ExistsSyntax, around: Around, run: Run): ExistsSyntax {
  const { text } = syntax.alias;
  const alias = around.use === null ? text : free(text, around.taken);
  const inner = {
    ...around,
    aliases: new Map([...around.aliases, [text, alias]]),
    taken: new Set([...around.taken, alias.toLowerCase()]),
  };
  const placed = (name: NameSyntax): NameSyntax => ({ ...name, at: placeOf(name.at, around) });
  return {
    ...syntax,
    table: placed(syntax.table),
    alias: { ...placed(syntax.alias), text: alias },
    where: writtenOut(syntax.where, inner, run),
  };
}

/** The alias, or the first of `alias_2`, `alias_3` and so on that no enclosing `exists` has. */
function free(alias: string, taken: ReadonlySet<string>): string {
  const isTaken = (name: string) => taken.has(name.toLowerCase());
  if (!isTaken(alias)) return alias;
  let number = 2;
  while (isTaken(`${alias}_${number}`)) number += 1;
  return `${alias}_${number}`;
}

function call(syntax: CallSyntax, around: Around, run: Run): CallSyntax {
  const condition = run.conditions.get(syntax.name);
  const problem = callProblem(syntax, condition, run.conditions);
  const text = condition?.text;
  if (problem !== null && !run.broken.has(syntax.name))
    run.problems.push({ at: syntax.at, message: problem });
  if (text === "broken") run.broken.add(syntax.name);
  if (problem !== null || condition === undefined || typeof text !== "object") return syntax;
  const depth = around.depth + syntax.depth + 1;
  if (depth + text.depth > nestingMax) {
    run.problems.push({ at: outermost(syntax.at), message: `${tooDeep}, ${withConditions}` });
    return syntax;
  }
  if (!spend(text.length, syntax.at, run)) return syntax;
  const inner = {
    use: { at: outermost(syntax.at), key: condition.key },
    values: new Map(condition.parameters.map((name, index) => [name, syntax.arguments[index]!])),
    aliases: new Map(),
    taken: around.taken,
    depth,
  };
  return { ...syntax, body: writtenOut(text.syntax, inner, run) };
}

/** Why a use of a named condition cannot be written out, as a message; null where it can. */
function callProblem(
  { name, arguments: values }: CallSyntax,
  condition: NamedCondition | undefined,
  conditions: Conditions,
): string | null {
  if (condition === undefined)
    return `unknown condition ${name}${meantOrKnown(name, conditions.keys()) || "; [conditions] has none"}`;
  const { key, parameters, text } = condition;
  const place = conditionPath(key);
  if (text === "under way") return `a condition cannot use itself: ${circle(name, conditions)}`;
  if (text === "broken") return `${name} has problems of its own, at ${place}`;
  if (parameters.length === values.length) return null;
  const takes = parameters.length === 1 ? "one argument" : `${parameters.length || "no"} arguments`;
  return `${name} takes ${takes}, not ${values.length || "none"}, as written at ${place}`;
}

/**
 * The circle of conditions that leads from `name` back to itself, as a message such as `a → b → a`. Conditions under
 * way (being read) are in the map in the order of their uses.
 */
function circle(name: string, conditions: Conditions): string {
  const underWay = [...conditions.values()].flatMap((each) => (each.text === "under way" ? [each.name] : []));
  return [...underWay.slice(underWay.indexOf(name)), name].join(" → ");
}

/** The place of a named condition in svc.toml, as problems name it. */
export function conditionPath(key: WrittenIn["key"]): string {
  return dottedPath(["conditions", key]);
}

/**
 * Takes `characters` from what the text may still grow by. Returns whether they fitted; the first time that they do
 * not, that is reported.
 */
function spend(characters: number, at: Place, run: Run): boolean {
  const had = run.left;
  run.left -= characters;
  if (had >= 0 && run.left < 0)
    run.problems.push({ at: outermost(at), message: `${tooLong}, ${withConditions}` });
  return run.left >= 0;
}

const withConditions = "with its conditions written out";

/**
 * The place of a problem in the text given to `writeOut`, without the place inside of a condition. It is for texts that
 * get too long or too deep, for which no condition by itself is at fault.
 */
function outermost({ line, column }: Place): Position {
  return { line, column };
}
