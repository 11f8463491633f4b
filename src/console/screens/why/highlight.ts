import type { Term } from "../../server/shapes.js";

/** A text of svc.toml that has terms: a rule, or a named condition. Places are null where it is not in the file. */
export interface TermText {
  readonly path: string;
  readonly text: string;
  readonly line: number | null;
  readonly column: number | null;
}

/** A piece of a rule's text, and the innermost term that it is part of; null for what is of no term. */
export interface RulePiece {
  readonly text: string;
  readonly term: Term | null;
}

/**
 * Cuts a text into pieces, each with the innermost term that it is part of. Terms stand at a line and column of the same
 * file as the text. Those that cannot be found in it are left out.
 */
export function highlighted(rule: TermText, terms: readonly Term[]): readonly RulePiece[] {
  const owners: (Term | null)[] = new Array<Term | null>(rule.text.length).fill(null);
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

/** The index in the text at which a term begins; null where it is not found. */
function placeOf(rule: TermText, { text, line, column }: Term): number | null {
  if (line !== null && column !== null && rule.line !== null && rule.column !== null) {
    const lines = rule.text.split("\n");
    const row = line - rule.line;
    const before = lines.slice(0, row).reduce((length, each) => length + each.length + 1, 0);
    const at = before + column - (row === 0 ? rule.column : 1);
    if (row >= 0 && at >= 0 && rule.text.startsWith(text, at)) return at;
  }
  // A text that is written with escapes has other columns in its file: the words alone then say where they are.
  const found = rule.text.indexOf(text);
  return found >= 0 && found === rule.text.lastIndexOf(text) ? found : null;
}
