import type { Explanation } from "../../../wire/explanation.js";
import type { ServedSchema } from "../../../wire/schema-in-force.js";
import { Badge } from "../../parts/badge.js";
import { Icon } from "../../parts/icon.js";
import { Text } from "../../parts/text.js";
import { texts } from "../../texts.js";
import { CostCard } from "./cost-card.js";
import { RuleTexts } from "./rule-texts.js";
import { Terms } from "./terms.js";

interface ExplanationViewProps {
  readonly schema: ServedSchema;
  readonly explanation: Explanation;
}

/** Whether the call is allowed and why, the rule with its terms in colours, and what the call costs. */
export function ExplanationView({ schema, explanation }: ExplanationViewProps) {
  const { allowed, reason, refusal, terms } = explanation;
  const verdict = allowed === null ? "depends" : allowed ? "allowed" : "denied";
  return (
    <>
      <div class={`verdict ${verdict}`}>
        <Icon name={verdict === "allowed" ? "check" : verdict === "denied" ? "close" : "why"} />
        <div>
          <h2>
            {texts.why.verdicts[verdict]}
            {refusal && <span class="verdict-status">{texts.why.answered(refusal.status, refusal.code)}</span>}
          </h2>
          <p>
            <Text value={reason} />
          </p>
        </div>
      </div>
      <Counts counts={explanation.counts} />
      <RuleTexts schema={schema} explanation={explanation} />
      {terms.length > 0 && <Terms terms={terms} />}
      <Columns columns={explanation.columns} />
      <NotJudged items={explanation.not_judged} />
      <CostCard explanation={explanation} />
    </>
  );
}

function Counts({ counts }: { readonly counts: Explanation["counts"] }) {
  if (counts === undefined) return null;
  const figures = [
    [texts.why.matching, counts.rows, counts.rows_truncated],
    [texts.why.admitted, counts.allowed, counts.allowed_truncated],
    [texts.why.offered, counts.offered, false],
  ] as const;
  return (
    <dl class="figures">
      {figures.map(([name, value, isAtLeast]) => (
        <div class="figure" key={name}>
          <dt>{name}</dt>
          <dd>{value === null ? "–" : `${isAtLeast ? "≥ " : ""}${value.toLocaleString("en")}`}</dd>
        </div>
      ))}
    </dl>
  );
}

function Columns({ columns }: { readonly columns: Explanation["columns"] }) {
  const hidden = Object.entries(columns).filter(([, { read }]) => !read);
  if (hidden.length === 0) return null;
  return (
    <section class="card">
      <h3>{texts.why.columns}</h3>
      <span class="badges">
        {hidden.map(([name]) => (
          <Badge key={name} kind="bad">
            {name}
          </Badge>
        ))}
      </span>
    </section>
  );
}

function NotJudged({ items }: { readonly items: Explanation["not_judged"] }) {
  if (items.length === 0) return null;
  return (
    <details class="card">
      <summary>{texts.why.notJudged(items.length)}</summary>
      <ul class="terms">
        {items.map(({ kind, columns, text }, i) => (
          <li key={i}>
            <Badge>{kind.replaceAll("_", " ")}</Badge>
            <code>
              <Text value={[columns.join(", "), text].filter(Boolean).join(": ")} />
            </code>
          </li>
        ))}
      </ul>
    </details>
  );
}
