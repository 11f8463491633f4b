import type { Problem } from "../problem.js";
import { tomlPlaces } from "./toml-places.js";
import { yamlOffset } from "./yaml-offset.js";

/**
 * The problems in the order of their files, with the line of what they are about, or of the longest part of its path that is there: a missing key is
 * where it is missing. `texts` are by file; a problem of another file, or of none of it, stays as it is.
 *
 * For the command line alone: a Worker need not carry it.
 */
export function withLines(
  problems: readonly Problem[],
  texts: ReadonlyMap<string, string>,
): readonly Problem[] {
  return inOrder(problems.map((problem) => withLine(problem, texts.get(problem.file))));
}

function withLine(problem: Problem, text: string | undefined): Problem {
  if (text === undefined || problem.line !== undefined) return problem;
  const line = lineOf(text, problem.path, problem.file.endsWith(".toml") ? tomlOffset : yamlOffset);
  return line === null ? problem : { ...problem, line };
}

/** Files in the order of their first problem, and a file's problems in the order of its lines. */
function inOrder(problems: readonly Problem[]): readonly Problem[] {
  const files = problems.map(({ file }) => file);
  return problems.toSorted(
    (a, b) => files.indexOf(a.file) - files.indexOf(b.file) || (a.line ?? 0) - (b.line ?? 0),
  );
}

function lineOf(
  text: string,
  path: string,
  find: (text: string, path: string) => number | null,
): number | null {
  const offset = find(text, path);
  return offset === null ? null : text.slice(0, offset).split("\n").length;
}

function tomlOffset(text: string, path: string): number | null {
  const places = tomlPlaces(text);
  const prefixes = path.split(".").map((_, index, steps) => steps.slice(0, steps.length - index).join("."));
  const found = prefixes.find((prefix) => places.has(prefix));
  return found === undefined ? null : places.get(found)!;
}
