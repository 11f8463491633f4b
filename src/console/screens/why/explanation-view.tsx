import { hrefOf } from "../../app/route.js";
import { Badge } from "../../parts/badge.js";
import { Icon } from "../../parts/icon.js";
import { Text } from "../../parts/text.js";
import type { Explanation, SchemaShape, Term } from "../../server/shapes.js";
import { texts } from "../../texts.js";
import { highlighted } from "./highlight.js";
import { missingIndex } from "./missing-index.js";

interface ExplanationViewProps {
  readonly schema: SchemaShape;
  readonly explanation: Explanation;
}

/** The verdict, the rule with its terms lit up, and what it cost. */
export function ExplanationView({ schema, explanation }: ExplanationViewProps) {
  const { allowed, reason, rule, terms, counts } = explanation;
  const verdict = allowed === null ? "depends" : allowed ? "allowed" : "denied";
  return (
    <>
      <div class={`verdict ${verdict}`}>
        <Icon name={verdict === "allowed" ? "check" : verdict === "denied" ? "close" : "why"} />
        <div>
          <h2>{texts.why.verdicts[verdict]}</h2>
          <p>
            <Text value={reason} />
          </p>
        </div>
      </div>
      {counts && (
        <dl class="figures">
          {Object.entries(counts).map(([name, value]) => (
            <div class="figure" key={name}>
              <dt>{texts.why.counts[name] ?? name.replaceAll("_", " ")}</dt>
              <dd>{value ?? "–"}</dd>
            </div>
          ))}
        </dl>
      )}
      {rule !== null && (
        <section class="card">
          <h3>
            <span class="mono">{rule.name}</span>{" "}
            <span class="muted small">{texts.why.place(rule.line, rule.column)}</span>
          </h3>
          <Rule explanation={explanation} rule={rule} />
        </section>
      )}
      {terms.length > 0 && <Terms terms={terms} />}
      <Columns columns={explanation.columns} />
      {explanation.not_judged.length > 0 && (
        <details class="card">
          <summary>{texts.why.notJudged(explanation.not_judged.length)}</summary>
          <ul class="bullets">
            {explanation.not_judged.map((text) => (
              <li key={text}>
                <Text value={text} />
              </li>
            ))}
          </ul>
        </details>
      )}
      <Cost schema={schema} explanation={explanation} />
    </>
  );
}

function Rule({
  explanation,
  rule,
}: {
  readonly explanation: Explanation;
  readonly rule: NonNullable<Explanation["rule"]>;
}) {
  // Terms of an update rule come twice; its text shows what has refused, if one of them has.
  const worst = explanation.terms.toSorted((a, b) => rank(b) - rank(a));
  return (
    <pre class="rule">
      {highlighted(rule, worst).map(({ text, term }, i) =>
        term === null ? (
          text
        ) : (
          <mark key={i} class={`term ${truthOf(term)}`} title={texts.why.truths[truthOf(term)]}>
            {text}
          </mark>
        ),
      )}
    </pre>
  );
}

type Truth = "true" | "false" | "null" | "unfinished";

function truthOf({ truth, unfinished }: Term): Truth {
  return unfinished ? "unfinished" : truth === null ? "null" : truth ? "true" : "false";
}

const rank = (term: Term) => ["false", "null", "unfinished", "true"].indexOf(truthOf(term));

function Terms({ terms }: { readonly terms: readonly Term[] }) {
  const kinds = { true: "good", false: "bad", null: "warn", unfinished: "plain" } as const;
  return (
    <section class="card">
      <h3>{texts.why.terms}</h3>
      <ul class="terms">
        {terms.map((term, i) => (
          <li key={i}>
            <Badge kind={kinds[truthOf(term)]}>{texts.why.truths[truthOf(term)]}</Badge>
            <code>{term.text}</code>
            {term.row && <span class="muted small">{texts.why.rows[term.row]}</span>}
            <span class="muted small term-place">{texts.why.place(term.line, term.column)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Columns({ columns }: { readonly columns: Explanation["columns"] }) {
  const limited = Object.entries(columns).filter(([, { read, write }]) => !read || !write);
  if (limited.length === 0) return null;
  return (
    <section class="card">
      <h3>{texts.why.columns}</h3>
      <ul class="terms">
        {limited.map(([name, { read, write }]) => (
          <li key={name}>
            <code>{name}</code>
            {!read && <Badge kind="bad">{texts.why.hidden}</Badge>}
            {!write && <Badge kind="warn">{texts.why.notWritable}</Badge>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Cost({ schema, explanation }: ExplanationViewProps) {
  const { sql, plan, way, rows_read: rows, ms } = explanation;
  const index = missingIndex(explanation, schema.tables);
  return (
    <section class="card">
      <h3>{texts.why.cost}</h3>
      <dl class="facts">
        {way !== null && (
          <>
            <dt>{texts.why.way}</dt>
            <dd>{way}</dd>
          </>
        )}
        <dt>{texts.usage.read}</dt>
        <dd>{rows ?? "–"}</dd>
        <dt>{texts.why.time}</dt>
        <dd>{texts.why.ms(ms)}</dd>
      </dl>
      {plan.length > 0 && (
        <ul class="terms">
          {plan.map(({ detail, index: used }, i) => (
            <li key={i}>
              <Badge kind={/^SCAN/.test(detail) ? "warn" : "good"}>
                {/^SCAN/.test(detail) ? texts.why.scan : used === null ? texts.why.step : texts.why.index}
              </Badge>
              <code>{detail}</code>
            </li>
          ))}
        </ul>
      )}
      {index !== null && (
        <p class="advice">
          <Icon name="operations" /> {texts.why.indexHelps(index.table, index.columns.join(", "))}{" "}
          <a
            class="button small"
            href={hrefOf("schema", ["edit"], { index: `${index.table}.${index.columns.join(",")}` })}
          >
            {texts.why.addIndex}
          </a>
        </p>
      )}
      {sql !== null && (
        <details>
          <summary>{texts.why.sql}</summary>
          <pre class="code">{sql}</pre>
        </details>
      )}
    </section>
  );
}
