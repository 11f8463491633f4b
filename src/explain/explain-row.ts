import { isRefusal, type Refusal } from "../http/refusal.js";
import { StatementError } from "../platform/database.js";
import { deniedBy } from "../tables/access/access.js";
import { notFound } from "../tables/request/row-request.js";
import { withoutRow } from "../tables/sql/explained.js";
import type { Explanation } from "../wire/explanation.js";
import {
  decidingRule,
  explainedTerms,
  explanationOf,
  hasTerms,
  indexesForExists,
  refused,
  type Verdict,
} from "./answer.js";
import type { ExplainRequest } from "./explain-request.js";
import { type ExplainedCall, wholeAccess } from "./explained-call.js";
import { notJudged } from "./not-judged.js";
import type { PlacedRule } from "./placed-rule.js";
import { costOf, type RowCall, rowCall } from "./row-call.js";
import { rowParts } from "./row-parts.js";
import { type Judged, judge } from "./terms.js";
import { type Truth, termsIn, truthOf, truthWord } from "./truths.js";

/** Explains a call for one row: reading, creating, updating or deleting it. */
export async function explainRow(asked: ExplainedCall, question: ExplainRequest): Promise<Explanation | Refusal> {
  const whole = wholeAccess(asked);
  const parts = rowParts(question, whole);
  if (isRefusal(parts)) return parts;
  const call = rowCall(asked, question, parts, whole);
  const rule = decidingRule(asked, call.refusal);
  const placed = hasTerms(rule) ? rule : null;
  const judged = await judgedOrNull(asked, call, placed);
  const { plan, rowsRead } = await costOf(asked, call, judged?.isThere ?? false);
  const { table, action, services } = asked;
  const { schema, catalog } = services.project;
  const write = writes[action];
  return explanationOf(asked, {
    verdict: judged === null ? notEvaluated : verdictOf(asked, call, judged, placed),
    rule,
    terms: placed === null || judged === null ? [] : explainedTerms(placed, judged.readings),
    values: judged?.shown ?? {},
    not_judged: write === null ? [] : notJudged(write, table, call.written, schema, catalog),
    statement: call.sends?.statement ?? null,
    plan,
    way: question.key === null || call.sends === null ? null : byKey(asked),
    indexes: call.access === null ? [] : indexesForExists(call.access),
    rows_read: rowsRead,
  });
}

const writes = { read: null, history: null, create: "insert", update: "update", delete: "delete" } as const;

function byKey({ table }: ExplainedCall): string {
  return `by ${table.primaryKey.map((column) => `${table.name}.${column}`).join(" and ")}`;
}

/**
 * Asks the database about the row and the terms of the rule, and returns its answer. Null where it cannot evaluate the
 * rule, or a default of the table, with the values that were given.
 */
async function judgedOrNull(
  asked: ExplainedCall,
  { refusal, row, shown, values }: RowCall,
  placed: PlacedRule | null,
): Promise<Judged | null> {
  const terms = placed === null ? [] : termsIn(placed.tree);
  try {
    // The rule of a column names no row. So its terms are evaluated without looking at one.
    return placed?.of.kind === "column"
      ? await judge(asked, { row: withoutRow, terms, asksRule: false, shown: [], values })
      : await judge(asked, { row, terms, asksRule: refusal === null, shown, values });
  } catch (error) {
    if (error instanceof StatementError) return null;
    throw error;
  }
}

const notEvaluated: Verdict = {
  allowed: null,
  reason: "the database cannot evaluate the rule, or a default of the table, with these values",
  refusal: null,
};

function verdictOf(
  { table, action, caller }: ExplainedCall,
  { refusal }: RowCall,
  { isThere, admitted, readings }: Judged,
  placed: PlacedRule | null,
): Verdict {
  if (refusal !== null) return refused(refusal);
  if (!isThere) return refused(notFound);
  const truths = placed === null ? [] : readings.map((reading) => truthOf(placed.tree, reading));
  if (admitted === undefined)
    return { allowed: null, reason: "whether the rule is TRUE was not found out", refusal: null };
  if (!admitted) {
    const denied = deniedBy(table, action);
    return refused(denied, `${denied.message}: ${ruleWords(truths)}`);
  }
  const reason =
    caller.kind === "key"
      ? "the key has the scope, and rules are not asked"
      : ruleWords(truths.map(() => true as const));
  return { allowed: true, reason, refusal: null };
}

function ruleWords(truths: readonly Truth[]): string {
  const [first, second] = truths;
  return truths.length === 2
    ? `the rule is ${truthWord(first)} with the row before, and ${truthWord(second)} with the row after`
    : `the rule is ${truthWord(first)}`;
}
