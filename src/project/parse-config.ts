import { parse as parseToml, TomlError } from "smol-toml";
import * as v from "valibot";
import { stepsOf } from "../problems/dotted-path.js";
import { pointAt } from "../problems/point-at.js";
import type { Problem } from "../problems/problem.js";
import { type Config, configSchema } from "./config.js";
import { type Inconsistency, inconsistenciesOf } from "./config-inconsistencies.js";
import type { Environment } from "./environment.js";
import { configFile as file } from "./file-names.js";
import type { RulesSource } from "./parse-rules.js";
import { rulePlaces } from "./rule-places.js";
import { soundPart } from "./sound-part.js";
import { isPlainObject, valibotProblems } from "./valibot-problems.js";
import { asWritten, withVariables } from "./with-variables.js";

/** The settings and rules of svc.toml, and the problems of the file. */
export interface ParsedConfig {
  /** Null if svc.toml has problems. */
  readonly config: Config | null;
  /** The rules and named conditions that could be read, even if the file has problems. Null if it is not TOML. */
  readonly rules: RulesSource | null;
  readonly problems: readonly Problem[];
}

/** How `parseConfig` reads a file. */
export interface ParseOptions {
  /** For `${NAME}` in the file. */
  readonly environment?: Environment;
  /** Finds further inconsistencies, such as paths in the settings that collide with files of the project. */
  readonly more?: (config: Config) => readonly Inconsistency[];
}

/** Parses svc.toml. */
export function parseConfig(text: string, { environment = {}, more = () => [] }: ParseOptions = {}): ParsedConfig {
  let written: Record<string, unknown>;
  try {
    written = parseToml(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return { config: null, rules: null, problems: [syntaxProblem(text, error)] };
  }
  const { raw, problems: incomplete, texts } = withVariables(written, environment);
  const problems: Problem[] = incomplete.map((problem) => ({ file, ...problem }));
  const result = v.safeParse(configSchema, raw);
  const isIncomplete = new Set(incomplete.map(({ path }) => path));
  const wrong = result.success ? [] : valibotProblems(file, result.issues).map(withItsSection);
  problems.push(...wrong.filter(({ path }) => !isIncomplete.has(path)));
  const settings = result.success ? result.output : soundPart(configSchema, raw)!;
  const sound: Config = { ...settings, places: rulePlaces(text, settings) };
  const isInDoubt = doubts(raw, problems);
  const found = [...inconsistenciesOf(sound), ...more(sound)];
  for (const { path, others, message } of found)
    if (![path, ...others].some(isInDoubt)) problems.push({ file, path, message });
  const rules = { rules: sound.rules, conditions: withUnread(sound.conditions, raw.conditions) };
  const shown = problems.map((problem) => ({ ...problem, message: asWritten(problem.message, texts) }));
  return { config: problems.length === 0 ? sound : null, rules, problems: shown };
}

/**
 * The named conditions, with null for those that could not be read, so that a rule which uses one of them is not
 * reported as using a condition that does not exist.
 */
function withUnread(read: Config["conditions"], raw: unknown): RulesSource["conditions"] {
  if (!isPlainObject(raw)) return read;
  return new Map(Object.keys(raw).map((key) => [key, read.get(key) ?? null]));
}

function syntaxProblem(text: string, error: TomlError): Problem {
  const { line, column } = error;
  const said = error.message.split("\n")[0]!.replace("Invalid TOML document: ", "");
  const message = `column ${column}: ${said}${remedies.get(said) ?? ""}\n${pointAt(text, error)}`;
  return { file, line, path: "", message };
}

const quotesNeeded = ": text is written in quotes, and true and false in lower case";
const keyNeeded = ': expected key = value, or a header such as [auth] with its "]"';
const bracketNeeded = ": look for a missing comma or bracket before this";

/** Advice that is appended to an error message of the parser smol-toml, by the first line of that message. */
export const remedies = new Map([
  ["invalid value", quotesNeeded],
  ["illegal character in numeric literal", quotesNeeded],
  ["control characters are not allowed in strings", ': the text has no closing " in its line'],
  ["unfinished string", ": the text has no closing quotes"],
  ["unrecognised escape sequence", ": write \\\\ for a \\, or put the text in single quotes"],
  ["illegal character in key", `${keyNeeded}. A key such as "member(room)" is in quotes`],
  ["unexpected end of key", keyNeeded],
  ["incomplete key-value: cannot find end of key", keyNeeded],
  ["expected comma or end of structure", bracketNeeded],
  ["unfinished array", bracketNeeded],
  ["unfinished table", bracketNeeded],
  [
    "each key-value declaration must be followed by an end-of-line",
    ': the value ends before this; within a "text" write \' instead of "',
  ],
  ["trying to redefine an already defined table or value", ": it is there twice, make one of both"],
  ["trying to redefine an already defined value", ": it is there twice, make one of both"],
]);

/** Names the section in the message about an unknown key that belongs in another section of svc.toml. */
function withItsSection(problem: Problem): Problem {
  const key = problem.path.split(".").at(-1)!;
  const at = problem.path.startsWith("rules.") ? [] : sectionsWith(key, configSchema);
  return at.length === 0 || !problem.message.startsWith("unknown key")
    ? problem
    : {
        ...problem,
        message: `unknown key; ${key} belongs under ${at.map((name) => `[${name}]`).join(" or ")}`,
      };
}

/** The dotted paths of the sections within `schema` that have the given key, such as `auth.throttle`. */
function sectionsWith(key: string, schema: unknown): string[] {
  return Object.entries(entriesOf(schema)).flatMap(([name, entry]) => {
    const inner = (entry as { wrapped?: unknown }).wrapped;
    const below = sectionsWith(key, inner).map((path) => `${name}.${path}`);
    return Object.hasOwn(entriesOf(inner), key) ? [name, ...below] : below;
  });
}

function entriesOf(schema: unknown): object {
  return (schema as { entries?: object } | undefined)?.entries ?? {};
}

/**
 * Makes a function that tells whether the value of a key is in doubt, so that nothing should be concluded from it. It
 * is in doubt if the key, a part of it or a section around it has a problem, and if the key or a section around it is
 * absent while there is an unknown key in the same section, which may be a misspelling of it.
 */
function doubts(raw: unknown, problems: readonly Problem[]): (path: string) => boolean {
  const wrong = problems.map(({ path, message }) => ({
    steps: stepsOf(path),
    isUnknown: message.startsWith("unknown key"),
  }));
  const isWithin = (steps: readonly string[], outer: readonly string[]) => outer.every((step, i) => steps[i] === step);
  return (path) => {
    const steps = stepsOf(path);
    const absent = steps.findIndex((_, i) => !has(raw, steps.slice(0, i + 1)));
    const parent = absent === -1 ? null : steps.slice(0, absent);
    return wrong.some(
      (at) =>
        isWithin(at.steps, steps) ||
        (isWithin(steps, at.steps) && !at.isUnknown) ||
        (at.isUnknown && parent?.length === at.steps.length - 1 && isWithin(at.steps, parent)),
    );
  };
}

function has(value: unknown, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return true;
  return isPlainObject(value) && Object.hasOwn(value, key) && has(value[key], rest);
}
