import type { RuleText, Term } from "../../server/shapes.js";

/** A piece of a rule's text, and what the innermost term that holds it comes out as; null for what is of no term. */
export interface RulePiece {
  readonly text: string;
  readonly term: Term | null;
}

/**
 * Cuts the text of a rule into pieces, each with the innermost term that it is part of. Terms stand at a line and column
 * of the same file as the rule. Those that do not stand where they say are left out.
 */
export function highlighted(rule: RuleText, terms: readonly Term[]): readonly RulePiece[] {
  const owners: (Term | null)[] = new Array<Term | null>(rule.text.length).fill(null);
  const placed = terms
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

/** The index in the rule's text at which a term begins; null where its text is not there. */
function placeOf(rule: RuleText, { text, line, column }: Term): number | null {
  const lines = rule.text.split("\n");
  const row = line - rule.line;
  const before = lines.slice(0, row).reduce((length, each) => length + each.length + 1, 0);
  const at = before + column - (row === 0 ? rule.column : 1);
  if (row >= 0 && rule.text.startsWith(text, at)) return at;
  // A rule that is written with escapes has other columns in its file: the text alone then says where it is.
  const found = rule.text.indexOf(text);
  return found >= 0 && found === rule.text.lastIndexOf(text) ? found : null;
}
