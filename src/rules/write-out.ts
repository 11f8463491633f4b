import { meantOrKnown } from "../problems/did-you-mean.js";
import { dottedPath } from "../problems/dotted-path.js";
import { literalText } from "./literal-text.js";
import type { Conditions, NamedCondition } from "./named-condition.js";
import { type ParsedText, textLengthMax, tooLong } from "./parse.js";
import type { Position, RulePosition, RuleProblem, WrittenIn } from "./position.js";
import type { CallSyntax, ExistsSyntax, NameSyntax, ParameterSyntax, Syntax } from "./syntax.js";
import { nestingMax, tooDeep } from "./token-reader.js";

/**
 * Writes out the named conditions that a text uses: each use gets the condition's text as its `body`, with the
 * arguments in the place of the parameters. If an `exists` in the condition has the same alias as an `exists` around
 * the use, the inner alias is renamed: an argument that names the outer alias would mean the inner one. A use that
 * cannot be written out is reported and has no body.
 *
 * The text may have at most `textLengthMax` characters after that and be nested at most `nestingMax` deep. This also
 * bounds the work if conditions use others many times.
 */
export function writeOut(
  { syntax, length }: ParsedText,
  conditions: Conditions,
  { values, taken }: WhereWritten,
): WrittenOut {
  const run: WriteOutState = { conditions, problems: [], broken: new Set(), left: textLengthMax - length };
  const names = new Set([...taken].map((name) => name.toLowerCase()));
  const around = { use: null, values, aliases: new Map(), taken: names, depth: 0 };
  return { syntax: writtenOut(syntax, around, run), problems: run.problems };
}

/** What `writeOut` has to know of the place where a text is used. */
export interface WhereWritten {
  /** What replaces the parameters that the given text itself may name. */
  readonly values: ReadonlyMap<string, Syntax>;
  /** The names of rows, such as `row`, that the text can use. An alias of such a name in a condition is renamed. */
  readonly taken: Iterable<string>;
}

/** The text with its named conditions written out, and the problems of doing so. */
export interface WrittenOut {
  readonly syntax: Syntax;
  readonly problems: readonly RuleProblem[];
}

interface WriteOutState {
  readonly conditions: Conditions;
  readonly problems: RuleProblem[];
  /** The conditions with problems of their own whose use was reported once. Further uses of them are not reported. */
  readonly broken: Set<string>;
  /** How many characters may still be added before the text is longer than `textLengthMax`. */
  left: number;
}

/**
 * What is known while one text is written out: the given text, or that of a condition that it uses, directly or through
 * other conditions.
 */
interface Around {
  /**
   * The condition's key, and the position in the given text of the use that led to it, directly or through other
   * conditions. Null while the given text itself is written out.
   */
  readonly use: { readonly at: Position; readonly key: string } | null;
  /** What replaces the parameters of the text. In the text of a condition, these are the arguments of its use. */
  readonly values: ReadonlyMap<string, Syntax>;
  /** The new names of the text's aliases, by the old ones. */
  readonly aliases: ReadonlyMap<string, string>;
  /**
   * What no alias may be called: names of rows, and aliases of all `exists` around the place, as renamed, in lower
   * case.
   */
  readonly taken: ReadonlySet<string>;
  /** How many levels deep the text is nested in the given text. */
  readonly depth: number;
}

function writtenOut(syntax: Syntax, around: Around, run: WriteOutState): Syntax {
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

function placeOf(at: RulePosition, { use }: Around): RulePosition {
  return use === null ? at : { ...use.at, written: { key: use.key, at } };
}

/** A parameter without a value stays as it is: a named condition is then being checked by itself, without a use. */
function argument(parameter: ParameterSyntax, { values }: Around, run: WriteOutState): Syntax {
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

function exists(syntax: ExistsSyntax, around: Around, run: WriteOutState): ExistsSyntax {
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

/** The alias itself if it is not in `taken`, else the first of `alias_2`, `alias_3` and so on that is not. */
function free(alias: string, taken: ReadonlySet<string>): string {
  const isTaken = (name: string) => taken.has(name.toLowerCase());
  if (!isTaken(alias)) return alias;
  let number = 2;
  while (isTaken(`${alias}_${number}`)) number += 1;
  return `${alias}_${number}`;
}

function call(syntax: CallSyntax, around: Around, run: WriteOutState): CallSyntax {
  const condition = run.conditions.get(syntax.name);
  const problem = callProblem(syntax, condition, run.conditions);
  const text = condition?.text;
  if (problem !== null && !run.broken.has(syntax.name)) run.problems.push({ at: syntax.at, message: problem });
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

/** Why a use of a named condition cannot be written out, as a message. */
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
 * The circle of uses from a condition back to itself, as `a → b → a`. The conditions that are under way are in the map
 * in the order in which one uses the next.
 */
function circle(name: string, conditions: Conditions): string {
  const underWay = [...conditions.values()].flatMap((each) => (each.text === "under way" ? [each.name] : []));
  return [...underWay.slice(underWay.indexOf(name)), name].join(" → ");
}

/** The path of a named condition in svc.toml, as problems give it. */
export function conditionPath(key: WrittenIn["key"]): string {
  return dottedPath(["conditions", key]);
}

/**
 * Subtracts from what the text may still grow by, and returns whether there was room. The first time that there is not
 * is reported.
 */
function spend(characters: number, at: RulePosition, run: WriteOutState): boolean {
  const had = run.left;
  run.left -= characters;
  if (had >= 0 && run.left < 0) run.problems.push({ at: outermost(at), message: `${tooLong}, ${withConditions}` });
  return run.left >= 0;
}

const withConditions = "with its conditions written out";

/**
 * The position of a problem in the given text, without the place inside of a named condition: for texts that become too
 * long or too deep, which is not the fault of a single condition.
 */
function outermost({ line, column }: RulePosition): Position {
  return { line, column };
}
