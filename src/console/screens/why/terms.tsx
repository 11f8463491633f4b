import type { ExplainedTerm } from "../../../wire/explanation.js";
import { Badge } from "../../parts/badge.js";
import { texts } from "../../texts.js";
import { type TermOutcome, termOutcome } from "./term-outcome.js";

const kinds: Readonly<Record<TermOutcome, "good" | "bad" | "warn" | "plain">> = {
  true: "good",
  false: "bad",
  null: "warn",
  some: "warn",
  unfinished: "plain",
};

/** The terms of a rule, each with its value. */
export function Terms({ terms }: { readonly terms: readonly ExplainedTerm[] }) {
  return (
    <section class="card">
      <h3>{texts.why.terms}</h3>
      <ul class="terms">
        {terms.map((term, i) => (
          <li key={i}>
            <Badge kind={kinds[termOutcome(term)]}>{texts.why.truths[termOutcome(term)]}</Badge>
            <code>{term.text}</code>
            {term.row && <span class="muted small">{texts.why.rows[term.row]}</span>}
            {term.counts && <span class="muted small">{texts.why.termCounts(term.counts)}</span>}
            {term.line !== null && (
              <span class="muted small term-place">{texts.why.place(term.line, term.column ?? 1)}</span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
