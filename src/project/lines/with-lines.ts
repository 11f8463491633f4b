import { stepsOf } from "../../problems/dotted-path.js";
import type { Problem } from "../../problems/problem.js";
import type { Place } from "./place.js";
import { tomlPlaces } from "./toml-places.js";
import { yamlPlaces } from "./yaml-places.js";

/**
 * Adds line numbers to problems and sorts them: files in the order of their first problem, problems of a file by
 * line. Where the path of a problem is not in the file, as with a missing key, the line is that of the longest part
 * of the path that is there. `texts` holds the files by name; problems of other files stay as they are.
 */
export function withLines(
  problems: readonly Problem[],
  texts: ReadonlyMap<string, string>,
): readonly Problem[] {
  const files = new Set(problems.map(({ file }) => file));
  return [...files].flatMap((file) => {
    const ofFile = problems.filter((problem) => problem.file === file);
    return located(ofFile, file, texts.get(file)).toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
  });
}

function located(problems: readonly Problem[], file: string, text: string | undefined): readonly Problem[] {
  // Mistakes of syntax come with their lines, and a file that has any cannot be parsed to find the places of keys.
  if (text === undefined || problems.every(({ line }) => line !== undefined)) return problems;
  const root = file.endsWith(".toml") ? tomlPlaces(text) : yamlPlaces(text);
  const starts = lineStarts(text);
  return problems.map((problem) => {
    const offset = problem.line === undefined ? offsetOf(root, stepsOf(problem.path)) : null;
    return offset === null ? problem : { ...problem, line: lineAt(starts, offset) };
  });
}

function offsetOf(root: Place, steps: readonly string[]): number | null {
  let offset: number | null = null;
  let place: Place | undefined = root;
  for (const step of steps) {
    place = place.part(step);
    if (place === undefined) break;
    offset = place.offset;
  }
  return offset;
}

/** The offsets at which the lines of a text begin. */
export function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** The line of an offset, from 1: how many lines begin at it or before it. */
export function lineAt(starts: readonly number[], offset: number): number {
  let from = 0;
  let to = starts.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (starts[middle]! <= offset) from = middle + 1;
    else to = middle;
  }
  return from;
}
