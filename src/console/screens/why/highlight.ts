import type { ExplainedTerm } from "../../../wire/explanation.js";

/** A rule or a named condition. `line` and `column` are where it begins in svc.toml; null if it is not in there. */
export interface TermText {
  readonly path: string;
  readonly text: string;
  readonly line: number | null;
  readonly column: number | null;
}

/** A piece of a rule's text. `term` is the innermost term around it; null outside of all terms, such as for `and`. */
export interface RulePiece {
  readonly text: string;
  readonly term: ExplainedTerm | null;
}

/**
 * Cuts the text of a rule into pieces. The lines and columns of terms are those of svc.toml, as are the rule's own.
 * Terms that are not found in the text are left out.
 */
export function highlighted(rule: TermText, terms: readonly ExplainedTerm[]): readonly RulePiece[] {
  const owners: (ExplainedTerm | null)[] = new Array<ExplainedTerm | null>(rule.text.length).fill(null);
  const placed = terms
    .filter(({ path }) => path === rule.path)
    .map((term) => ({ term, at: placeOf(rule, term) }))
    .filter(({ at }) => at !== null)
    .toSorted((a, b) => b.term.text.length - a.term.text.length);
  for (const { term, at } of placed) owners.fill(term, at!, at! + term.text.length);
  const pieces: RulePiece[] = [];
  for (let from = 0, to = 0; from < owners.length; from = to) {
    while (to < owners.length && owners[to] === owners[from]) to++;
    pieces.push({ text: rule.text.slice(from, to), term: owners[from]! });
  }
  return pieces;
}

/** The index in the rule's text at which a term begins; null if it is not found. */
function placeOf(rule: TermText, { text, line, column }: ExplainedTerm): number | null {
  if (line !== null && column !== null && rule.line !== null && rule.column !== null) {
    const lines = rule.text.split("\n");
    const row = line - rule.line;
    const before = lines.slice(0, row).reduce((length, each) => length + each.length + 1, 0);
    const at = before + column - (row === 0 ? rule.column : 1);
    if (row >= 0 && at >= 0 && rule.text.startsWith(text, at)) return at;
  }
  // If the text has escapes in svc.toml, the columns of the file do not fit it. Then the term's words are searched, and
  // count as found if they are there exactly once.
  const found = rule.text.indexOf(text);
  return found >= 0 && found === rule.text.lastIndexOf(text) ? found : null;
}
