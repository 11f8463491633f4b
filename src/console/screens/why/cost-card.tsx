import type { Explanation, PlanLine } from "../../../wire/explanation.js";
import { Badge } from "../../parts/badge.js";
import { Icon } from "../../parts/icon.js";
import { hrefOf } from "../../route.js";
import { texts } from "../../texts.js";

/** How the rows are found, which index would help, the rows read, the SQL and SQLite's query plan. */
export function CostCard({ explanation }: { readonly explanation: Explanation }) {
  const { sql, plan, way, indexes, rows_read: rows, ms } = explanation;
  const [telling, others] = [plan.filter(isTelling), plan.filter((line) => !isTelling(line))];
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
        <dd>{rows?.toLocaleString("en") ?? "–"}</dd>
        <dt>{texts.why.time}</dt>
        <dd>{texts.why.ms(ms)}</dd>
      </dl>
      {indexes.map(({ table, columns }) => (
        <p class="advice" key={`${table} ${columns.join()}`}>
          <Icon name="operations" /> {texts.why.indexHelps(table, columns.join(", "))}{" "}
          <a class="button small" href={hrefOf("schema", ["edit"], { index: `${table}.${columns.join(",")}` })}>
            {texts.why.addIndex}
          </a>
        </p>
      ))}
      {telling.length > 0 && <Plan lines={telling} />}
      {sql !== null && (
        <details>
          <summary>{texts.why.sql}</summary>
          <pre class="code">{sql}</pre>
          {others.length > 0 && <Plan lines={others} />}
        </details>
      )}
    </section>
  );
}

/**
 * Whether a line of the plan says how the rows of a table are read, by a scan or an index. Other lines only say how the
 * statement combines its parts, and are shown with the SQL.
 */
function isTelling({ detail }: PlanLine): boolean {
  return /^SEARCH/.test(detail) || /^SCAN (_t|_x\w*|[A-Za-z]\w*)\b(?! ROW)/.test(detail);
}

function Plan({ lines }: { readonly lines: readonly PlanLine[] }) {
  return (
    <ul class="terms">
      {lines.map(({ detail, index }, i) => (
        <li key={i}>
          {isTelling({ detail, index }) && (
            <Badge kind={index === null ? "warn" : "good"}>{index === null ? texts.why.scan : texts.why.index}</Badge>
          )}
          <code>{detail}</code>
        </li>
      ))}
    </ul>
  );
}
