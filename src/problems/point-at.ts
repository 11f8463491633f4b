import { visible } from "./problem.js";

const widthMax = 100;

/** The line of `text` that a problem is in, and a caret beneath its place, which counts from 1. Indented, no line break at the end. */
export function pointAt(text: string, at: { readonly line: number; readonly column: number }): string {
  const line = (text.split("\n")[at.line - 1] ?? "").replace(/\r$/, "");
  // Of a long line, what is around the place.
  const from = Math.max(0, Math.min(at.column - 1 - widthMax / 2, line.length - widthMax));
  const shown = line.slice(from, from + widthMax);
  // A tab stays one, so that the caret is beneath its place however wide tabs are.
  const before = visible(shown.slice(0, at.column - 1 - from)).replace(/[^\t]/g, " ");
  return `    ${visible(shown)}\n    ${before}^`;
}
