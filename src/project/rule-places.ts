import { dottedPath } from "../problems/dotted-path.js";
import { conditionPath } from "../rules/write-out.js";
import { lineAt, lineStarts } from "./lines/located.js";
import { type TomlPlace, tomlPlaces } from "./lines/toml-places.js";
import type { RulesSource } from "./parse-rules.js";
import type { RulePlaces, TextRun } from "./place-in-file.js";

/**
 * Finds where the text of each rule and named condition is written. `source` is what was parsed from `text`, svc.toml.
 */
export function rulePlaces(text: string, source: RulesSource): RulePlaces {
  if (source.rules.size + source.conditions.size === 0) return new Map();
  const root = tomlPlaces(text);
  const starts = lineStarts(text);
  const places = new Map<string, readonly TextRun[]>();
  for (const [steps, path] of pathsOf(source)) {
    const place = steps.reduce<TomlPlace | undefined>((at, step) => at?.part(step), root);
    if (place?.string) places.set(path, runsOf(text, place.string, starts));
  }
  return places;
}

function* pathsOf({ rules, conditions }: RulesSource): Iterable<readonly [readonly string[], string]> {
  const actions = ["read", "create", "update", "delete", "history"] as const;
  const path = (...steps: readonly string[]) => [steps, dottedPath(steps)] as const;
  for (const [table, of] of rules) {
    for (const action of actions) if (of[action] !== undefined) yield path("rules", table, action);
    for (const [column, its] of of.columns ?? []) {
      for (const right of ["read", "write"] as const)
        if (its[right] !== undefined) yield path("rules", table, "columns", column, right);
    }
  }
  for (const key of conditions.keys()) yield [["conditions", key], conditionPath(key)];
}

/**
 * What a string of TOML has in place of the characters that it stands for: escapes, in a `basic` string, and ends of
 * lines. A backslash at the end of a line stands for nothing, together with the white space behind it.
 */
const breaks = { basic: /\\[ \t]*\r?\n[ \t\r\n]*|\\U.{8}|\\u.{4}|\\x.{2}|\\.|\n/g, literal: /\n/g };

function runsOf(
  text: string,
  { from, to }: NonNullable<TomlPlace["string"]>,
  starts: readonly number[],
): readonly TextRun[] {
  const [quotes] = /^(?:"""|'''|"|')/.exec(text.slice(from, from + 3))!;
  // A line break directly behind three opening quotes is no part of the string.
  const skipped = quotes.length === 3 ? /^\r?\n/.exec(text.slice(from + 3, from + 5)) : null;
  const begin = from + quotes.length + (skipped?.[0].length ?? 0);
  const runs: TextRun[] = [];
  const run = (at: number, offset: number) => {
    const line = lineAt(starts, offset);
    runs.push([at, line, offset - starts[line - 1]! + 1]);
  };
  run(0, begin);
  const written = text.slice(begin, to - quotes.length);
  let left = 0;
  for (const found of written.matchAll(quotes[0] === '"' ? breaks.basic : breaks.literal)) {
    const [all] = found;
    left += all.length - lengthOf(all);
    const end = found.index + all.length;
    run(end - left, begin + end);
  }
  return runs;
}

/** How many UTF-16 code units of the string's value an escape or the end of a line stands for: 0 to 2. */
function lengthOf(written: string): number {
  if (written === "\n") return 1;
  if (/^\\[ \t]*\r?\n/.test(written)) return 0;
  return written.startsWith("\\U") && Number.parseInt(written.slice(2), 16) > 0xffff ? 2 : 1;
}
