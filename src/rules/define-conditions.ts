import { checkText } from "./check-text.js";
import { keywordOf } from "./lex.js";
import type { Conditions, NamedCondition } from "./named-condition.js";
import { parse } from "./parse.js";
import type { RulePosition } from "./position.js";
import { isRowOrCaller, type RowShapes, scopeOfCondition } from "./scope.js";

/** How many named conditions a project may have. */
const conditionsMax = 500;

/**
 * Reads the named conditions of svc.toml. `source` is its section `[conditions]`: the texts by their keys, such as
 * `member(room)`, with null for a text that could not be read. Each condition is checked by itself, whether a rule uses
 * it or not, as far as that is possible without knowing the types of its parameters.
 */
export function defineConditions(source: ReadonlyMap<string, string | null>, tables: RowShapes): DefinedConditions {
  const problems: ConditionProblem[] = [];
  const heads = new Map<string, Head>();
  for (const [key, text] of source) {
    const head = headOf(key, text);
    const message = heads.has(head.name) ? `there is another condition ${head.name}` : head.problem;
    if (message !== null) problems.push({ key, at: null, message });
    if (!heads.has(head.name)) heads.set(head.name, head);
  }
  if (source.size > conditionsMax)
    problems.push({ key: null, at: null, message: `more than ${conditionsMax} conditions` });
  const isTooMany = source.size > conditionsMax;
  // All names are in the map from the beginning, so that for a misspelt name the right one can be suggested.
  const defined = new Map([...heads].map(([name, head]) => [name, conditionOf(head, "broken")]));
  const begun = new Set<string>();
  const define = (head: Head): void => {
    if (begun.has(head.name) || isTooMany) return;
    begun.add(head.name);
    // Setting the name anew moves it to the end of the map. So the conditions that are under way stand in the map in
    // the order in which one uses the next.
    defined.delete(head.name);
    defined.set(head.name, conditionOf(head, "under way"));
    defined.set(head.name, conditionOf(head, textOf(head)));
  };
  const textOf = ({ key, text, parameters, problem }: Head): NamedCondition["text"] => {
    if (text === null || problem !== null) return "broken";
    const parsed = parse(text, { conditions: heads, parameters });
    if (parsed.problem !== undefined) {
      problems.push({ key, ...parsed.problem });
      return "broken";
    }
    for (const name of parsed.called) if (heads.has(name)) define(heads.get(name)!);
    const { problems: found } = checkText(parsed, scopeOfCondition(tables, defined));
    problems.push(...found.map((each) => ({ key, ...each })));
    return found.length === 0 ? parsed : "broken";
  };
  for (const head of heads.values()) define(head);
  return { conditions: defined, problems };
}

/** If there are problems, the server must not start. */
export interface DefinedConditions {
  readonly conditions: Conditions;
  readonly problems: readonly ConditionProblem[];
}

/**
 * A mistake in the text of the condition at `key`; in the key itself if `at` is null; in the whole section
 * `[conditions]` if `key` is null, too.
 */
export interface ConditionProblem {
  readonly key: string | null;
  readonly at: RulePosition | null;
  readonly message: string;
}

/** A key of `[conditions]`, taken apart, and its text. `problem` is what is wrong with the key. */
interface Head {
  readonly key: string;
  readonly name: string;
  readonly parameters: readonly string[];
  readonly text: string | null;
  readonly problem: string | null;
}

function conditionOf({ key, name, parameters }: Head, text: NamedCondition["text"]): NamedCondition {
  return { key, name, parameters, text };
}

const keyPattern = /^\s*([A-Za-z][A-Za-z0-9_]*)\s*\(([^()]*)\)\s*$/;
const namePattern = /^[A-Za-z][A-Za-z0-9_]*$/;

function headOf(key: string, text: string | null): Head {
  const [, name, list] = keyPattern.exec(key) ?? [];
  if (name === undefined || list === undefined) {
    // The name at the beginning of a key that cannot be read counts as the condition's name. The message about a rule
    // that uses the condition then says where the condition is written, and not that it does not exist.
    const meant = /^\s*([A-Za-z][A-Za-z0-9_]*)/.exec(key)?.[1] ?? key;
    return { key, name: meant, parameters: [], text, problem: unreadable };
  }
  const parameters = /^\s*$/.test(list) ? [] : list.split(",").map((parameter) => parameter.trim());
  return { key, name, parameters, text, problem: headProblem(name, parameters) };
}

const unreadable = "expected a name and its parameters, as in member(room) or member()";

function headProblem(name: string, parameters: readonly string[]): string | null {
  const odd = parameters.find((parameter) => !namePattern.test(parameter));
  if (odd !== undefined) return unreadable;
  const taken = [name, ...parameters].find((each) => keywordOf(each) !== null || isRowOrCaller(each));
  if (taken !== undefined) return `${taken} is a word of rules: choose another name`;
  const twice = parameters.find((parameter, index) => parameters.indexOf(parameter) !== index);
  return twice === undefined ? null : `there are two parameters ${twice}`;
}
