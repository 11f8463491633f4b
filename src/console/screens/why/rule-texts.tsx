import type { ExplainedTerm, Explanation } from "../../../wire/explanation.js";
import type { ServedSchema } from "../../../wire/schema-in-force.js";
import { texts } from "../../texts.js";
import { highlighted, type TermText } from "./highlight.js";
import { termOutcome } from "./term-outcome.js";

interface RuleTextsProps {
  readonly schema: ServedSchema;
  readonly explanation: Explanation;
}

/** The text of the rule that decides, and of its named conditions. The colour of a term tells its value. */
export function RuleTexts({ schema, explanation: { rule, terms } }: RuleTextsProps) {
  if (rule === null || rule.text === null) return null;
  const conditions = schema.conditions.map(({ name, ...place }) => ({
    path: `conditions.${name}`,
    ...place,
  }));
  const shown: readonly TermText[] = [
    { path: rule.name, text: rule.text, line: rule.line, column: rule.column },
    ...conditions.filter(({ path }) => terms.some((term) => term.path === path)),
  ];
  return (
    <section class="card">
      {shown.map((each) => (
        <div class="rule-text" key={each.path}>
          <h3>
            <span class="mono">{each.path}</span>{" "}
            {each.line !== null && <span class="muted small">{texts.why.place(each.line, each.column ?? 1)}</span>}
          </h3>
          {runsOf(terms).map(({ title, run }) => (
            <Rule key={title ?? ""} title={title} text={each} terms={run} />
          ))}
        </div>
      ))}
    </section>
  );
}

interface RuleRun {
  readonly title: string | null;
  readonly run: readonly ExplainedTerm[];
}

/**
 * An update rule is tested with the row before the update and with the row after it. It is shown once if its terms have
 * the same values both times, otherwise once for each.
 */
function runsOf(terms: readonly ExplainedTerm[]): readonly RuleRun[] {
  const runs = (["before", "after"] as const).map((row) => ({
    title: texts.why.rows[row],
    run: terms.filter((term) => term.row === row),
  }));
  const truths = runs.map(({ run }) => run.map(termOutcome).join());
  if (runs.some(({ run }) => run.length === 0)) return [{ title: null, run: terms }];
  return truths[0] === truths[1] ? [{ title: null, run: runs[0]!.run }] : runs;
}

function Rule({
  title,
  text,
  terms,
}: {
  readonly title: string | null;
  readonly text: TermText;
  readonly terms: readonly ExplainedTerm[];
}) {
  return (
    <>
      {title !== null && <p class="muted small">{title}</p>}
      <pre class="rule">
        {highlighted(text, terms).map(({ text: piece, term }, i) =>
          term === null ? (
            piece
          ) : (
            <mark key={i} class={`term ${termOutcome(term)}`} title={texts.why.truths[termOutcome(term)]}>
              {piece}
            </mark>
          ),
        )}
      </pre>
    </>
  );
}
