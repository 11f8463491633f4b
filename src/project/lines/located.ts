import { stepsOf } from "../../problems/dotted-path.js";
import type { Problem } from "../../problems/problem.js";
import type { SourcePlace } from "./place.js";

/**
 * Adds line numbers to problems of one file, and sorts them by line. If the path of a problem is not in the file, as
 * with a missing key, the line is that of the longest part of the path that is there.
 */
export function located(
  problems: readonly Problem[],
  text: string,
  placesIn: (text: string) => SourcePlace,
): readonly Problem[] {
  return byLine(withOwnLines(problems, text, placesIn));
}

/** Problems without a line come first. */
export function byLine(problems: readonly Problem[]): readonly Problem[] {
  return problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
}

function withOwnLines(
  problems: readonly Problem[],
  text: string,
  placesIn: (text: string) => SourcePlace,
): readonly Problem[] {
  // If all problems have lines already, they are mistakes of syntax, and the file cannot be parsed to find the places
  // of keys.
  if (problems.every(({ line }) => line !== undefined)) return problems;
  const lineOf = linesIn(text, placesIn);
  return problems.map((problem) => {
    const line = problem.line === undefined ? lineOf(stepsOf(problem.path)) : null;
    return line === null ? problem : { ...problem, line };
  });
}

/** Finds the line, from 1, of the longest part of a path that is in the text; null where no part is. */
export function linesIn(
  text: string,
  placesIn: (text: string) => SourcePlace,
): (steps: readonly string[]) => number | null {
  const root = placesIn(text);
  const starts = lineStarts(text);
  return (steps) => {
    const offset = offsetOf(root, steps);
    return offset === null ? null : lineAt(starts, offset);
  };
}

function offsetOf(root: SourcePlace, steps: readonly string[]): number | null {
  let offset: number | null = null;
  let place: SourcePlace | undefined = root;
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

/** The line of an offset, from 1. */
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
