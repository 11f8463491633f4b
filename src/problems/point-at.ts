import { visible } from "./problem.js";

const widthMax = 100;

/**
 * Shows the line of a problem in `text`, with a caret below the place. `line` and `column` count from 1. Both lines are
 * indented, and no line break ends them.
 */
export function pointAt(text: string, at: { readonly line: number; readonly column: number }): string {
  const line = (text.split("\n")[at.line - 1] ?? "").replace(/\r$/, "");
  const from = Math.max(0, Math.min(at.column - 1 - widthMax / 2, line.length - widthMax));
  const shown = line.slice(from, from + widthMax);
  // Tabs stay tabs in front of the caret, so that it is under its place however wide they are shown.
  const before = visible(shown.slice(0, at.column - 1 - from)).replace(/[^\t]/g, " ");
  return `    ${visible(shown)}\n    ${before}^`;
}
