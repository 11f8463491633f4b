import { isRefusal, type Refusal } from "../http/refusal.js";
import type { Statement } from "../platform/database.js";
import type { Expression } from "../rules/ast.js";
import { TRUE } from "../rules/fold.js";
import type { Access } from "../tables/access/access.js";
import type { RowValues } from "../tables/request/row-request.js";
import { slots } from "../tables/row/row-write.js";
import { rowOfTable } from "../tables/sql/explained.js";
import { pastOf, versionsStatement } from "../tables/sql/past.js";
import type { ExplainedCounts, ExplainedTerm, Explanation } from "../wire/explanation.js";
import { decidingRule, explainedTerms, explanationOf, hasTerms, refused, type Verdict } from "./answer.js";
import { countedTerms } from "./counted-terms.js";
import type { ExplainRequest } from "./explain-request.js";
import { accessForCall, type ExplainedCall, queryInTime, readingExecution, wholeAccess } from "./explained-call.js";
import { type PlacedRule, placedRule } from "./placed-rule.js";
import { keyIn } from "./row-parts.js";
import { judge, type RowQuestion } from "./terms.js";
import { termsIn } from "./truths.js";

/**
 * Explains what a caller sees of the history of a row, or of all rows: how many versions there are, and how many of
 * them the rules admit. The terms of the rules are tested on the row as it is now; where all rows are asked about, only
 * those terms are evaluated that read no row.
 */
export async function explainHistory(asked: ExplainedCall, question: ExplainRequest): Promise<Explanation | Refusal> {
  const whole = wholeAccess(asked);
  const key = question.key === null ? null : keyIn(question.key, whole);
  if (isRefusal(key)) return key;
  const access = accessForCall(asked, "history");
  const refusal = isRefusal(access) ? access : null;
  const statement = isRefusal(access) ? null : versionsOf(asked, access, key);
  const terms = await termsNow(asked, refusal, whole, key);
  const counts = isRefusal(access) || statement === null ? null : await countsOf(asked, access, statement, key);
  const way = key === null ? "by the log of changes" : "by the row's key in the log of changes";
  return explanationOf(asked, {
    verdict: refusal === null ? verdictOf(counts) : refused(refusal),
    rule: decidingRule(asked, refusal),
    terms,
    statement,
    way: statement && way,
    indexes: [],
    rows_read: statement === null ? 0 : null,
    counts,
  });
}

/** How many versions of rows are counted at most. */
const versionsMax = 1_000;

function versionsOf(asked: ExplainedCall, access: Access, key: RowValues | null, rule?: Expression): Statement {
  const whole = { preview: null, ...(rule && { rule }) };
  const past = pastOf(access, versionsMax, asked.services.config.api.scan_limit, whole);
  return versionsStatement(past, 0, Number.MAX_SAFE_INTEGER, key, readingExecution(asked).values);
}

async function countsOf(
  asked: ExplainedCall,
  access: Access,
  statement: Statement,
  key: RowValues | null,
): Promise<ExplainedCounts | null> {
  const all = versionsOf(asked, access, key, TRUE);
  const found = await queryInTime(asked, [statement, all], 1);
  if (found === undefined) return null;
  const [admitted, existing] = found.map(({ rows }) => rows.find((row) => row[8] !== null));
  const [passed, matching] = [admitted, existing].map((row) => Number(row?.[8] ?? 0)) as [number, number];
  const examined = Number(admitted?.[1] ?? 0);
  const isCut = admitted?.[2] === 1;
  return {
    rows: Math.min(matching, versionsMax),
    rows_truncated: isCut || matching > versionsMax,
    allowed: Math.min(passed, versionsMax),
    allowed_truncated: isCut || passed > versionsMax,
    offered: examined,
  };
}

/**
 * Returns the terms of the rule that refuses the call. Where none does, the terms of the two rules that both have to
 * admit a version: the rule `history` and the rule `read`.
 */
async function termsNow(
  asked: ExplainedCall,
  refusal: Refusal | null,
  whole: Access,
  key: RowValues | null,
): Promise<readonly ExplainedTerm[]> {
  const { table, services } = asked;
  const { project } = services;
  const reading = { kind: "action", action: "read" } as const;
  const rules = [
    decidingRule(asked, refusal),
    ...(refusal === null && asked.caller.kind !== "key" ? [placedRule(reading, table, project)] : []),
  ].filter((each) => hasTerms(each));
  const terms: ExplainedTerm[] = [];
  for (const placed of rules)
    terms.push(
      ...(key === null
        ? await countedTerms(asked, placed, null)
        : explainedTerms(placed, (await judge(asked, rowNow(asked, placed, whole, key))).readings)),
    );
  return terms;
}

function rowNow({ table }: ExplainedCall, { tree }: PlacedRule, whole: Access, key: RowValues): RowQuestion {
  const row = rowOfTable(table, slots(key, whole), TRUE, whole.catalog);
  return { row, terms: termsIn(tree), asksRule: false, shown: [], values: [key] };
}

function verdictOf(counts: ExplainedCounts | null): Verdict {
  const of = counts === null ? "the versions" : `${counts.rows}${counts.rows_truncated ? " or more" : ""} versions`;
  const admitted = counts === null ? "an unknown number" : String(counts.allowed);
  return { allowed: true, reason: `the rules admit ${admitted} of ${of}`, refusal: null };
}
