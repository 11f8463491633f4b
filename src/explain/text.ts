import type { ExplainedTerm, Explanation } from "../wire/explanation.js";

/** Writes an explanation as text for people; with `withSql` also the statement of the call and SQLite's plan of it. */
export function explanationText(explanation: Explanation, { withSql }: { readonly withSql: boolean }): string {
  const { sql, plan, way, rows_read: rowsRead, ms } = explanation;
  const sections = [
    verdict(explanation),
    ruleLines(explanation),
    columnLines(explanation),
    named(
      "sets beside what is sent",
      Object.entries(explanation.values).map(([column, value]) => `${column}: ${JSON.stringify(value)}`),
    ),
    named(
      "not judged",
      explanation.not_judged.map(({ kind, columns, text }) =>
        [kind.replace("_", " "), columns.join(", "), text].filter(Boolean).join(" "),
      ),
    ),
    [
      ...(way === null ? [] : [`rows are found ${way}`]),
      ...explanation.indexes.map(({ table, columns }) => `an index on ${table} (${columns.join(", ")}) would help`),
      `rows read: ${rowsRead ?? "unknown"}, in ${ms} ms`,
    ],
    sql === null || !withSql ? [] : [sql, ...plan.map(({ detail }) => `  ${detail}`)],
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

/** The rule that decides, and a line for each of its terms; none where no rule decides. */
export function ruleLines({ rule, terms }: Pick<Explanation, "rule" | "terms">): readonly string[] {
  return rule === null ? [] : [ruleLine(rule), ...terms.map(termLine)];
}

function verdict({ allowed, reason, refusal }: Explanation): readonly string[] {
  const word = allowed === null ? "unknown" : allowed ? "allowed" : "denied";
  return [`${word}: ${reason}`, ...(refusal === null ? [] : [`the answer is ${refusal.status} ${refusal.code}`])];
}

function ruleLine({ name, text, line }: NonNullable<Explanation["rule"]>): string {
  const where = line === null ? "" : ` (svc.toml, line ${line})`;
  return text === null ? name : `${name}${where}`;
}

function termLine(term: ExplainedTerm): string {
  const { text, line, column, row, counts } = term;
  const place = line === null ? "" : ` ${line}:${column}`;
  const which = row === undefined ? "" : ` ${row}`;
  const counted =
    counts === undefined ? "" : `  TRUE of ${counts.true}, FALSE of ${counts.false}, NULL of ${counts.null}`;
  return `  ${mark(term)}${which}${place}  ${text.replace(/\s+/g, " ")}${counted}`;
}

function mark({ truth, unfinished, counts }: ExplainedTerm): string {
  if (unfinished) return "…";
  if (counts !== undefined) return "•";
  return truth === null ? "?" : truth ? "✓" : "✗";
}

/** Makes lines that name the columns that the caller may not read or not write. Other columns are not mentioned. */
function columnLines({ columns }: Explanation): readonly string[] {
  const entries = Object.entries(columns);
  const hidden = entries.filter(([, { read }]) => !read).map(([name]) => name);
  const fixed = entries.filter(([, { write }]) => !write).map(([name]) => name);
  return [
    ...(hidden.length === 0 ? [] : [`may not read: ${hidden.join(", ")}`]),
    ...(fixed.length === 0 ? [] : [`may not write: ${fixed.join(", ")}`]),
  ];
}

function named(name: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`${name}:`, ...lines.map((line) => `  ${line}`)];
}
