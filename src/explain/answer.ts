import { permits } from "../auth/callers/principal.js";
import { isRefusal, type Refusal } from "../http/refusal.js";
import type { Statement } from "../platform/database.js";
import { TRUE } from "../rules/fold.js";
import type { TermTree } from "../rules/term-tree.js";
import type { Access } from "../tables/access/access.js";
import { planQuestion } from "../tables/plan/plan-check.js";
import { unservedIn } from "../tables/plan/unserved-exists.js";
import type { ExplainedCounts, ExplainedRule, ExplainedTerm, Explanation, PlanLine } from "../wire/explanation.js";
import { accessUnder, type ExplainedCall, queryInTime } from "./explained-call.js";
import { type PlacedRule, placedRule } from "./placed-rule.js";
import { planLines } from "./plan-lines.js";
import { type TermOrUse, type Truth, termsAndUsesIn, truthOf } from "./truths.js";

/**
 * Returns the rule that decides about a call; for a refused call the rule that the refusal names, if it names one. Null
 * where no rule decides, because the caller is an API key: for one with the scope no rule is asked.
 */
export function decidingRule(asked: ExplainedCall, refusal: Refusal | null): PlacedRule | ExplainedRule | null {
  const { caller, table, action, services } = asked;
  const { project } = services;
  const name = refusal?.rule;
  const column = /^rules\..+\.columns\.([^.]+)\.write$/.exec(name ?? "")?.[1];
  if (column !== undefined) return placedRule({ kind: "column", column, right: "write" }, table, project);
  if (caller.kind === "key") return name === undefined ? null : { name, text: null, line: null, column: null };
  const isOfReading = name === `rules.${table.name}.read`;
  return placedRule({ kind: "action", action: isOfReading ? "read" : action }, table, project);
}

/** Whether the rule has terms to explain: not where no rule decides, nor for a scope that an API key lacks. */
export function hasTerms(rule: PlacedRule | ExplainedRule | null): rule is PlacedRule {
  return rule !== null && "tree" in rule;
}

/**
 * Returns the terms of a rule with their values. The rule of an update is tested with the row before it and with the
 * row after it, so that each term comes twice, once with either row.
 */
export function explainedTerms(
  placed: PlacedRule,
  readings: readonly ReadonlyMap<TermTree, Truth>[],
): readonly ExplainedTerm[] {
  const times = readings.length === 2 ? (["before", "after"] as const) : [undefined];
  return times.flatMap((row, reading) =>
    termsAndUsesIn(placed.tree).map((each) => explainedTerm(each, placed, readings[reading]!, row && { row })),
  );
}

/** Returns a term with its value: TRUE, FALSE or NULL; or `counts` in its place, or `unfinished` where it has neither. */
export function explainedTerm(
  each: TermOrUse,
  { written }: PlacedRule,
  truths: ReadonlyMap<TermTree, Truth>,
  row?: Pick<ExplainedTerm, "row">,
  counts?: ExplainedTerm["counts"],
): ExplainedTerm {
  const truth = truthOf(each, truths);
  return {
    kind: each.kind,
    ...written(each.place),
    ...row,
    truth: truth ?? null,
    ...(counts === undefined ? truth === undefined && { unfinished: true as const } : { counts }),
  };
}

/**
 * Returns for each column whether the caller may read it, and whether they may write it: by the rules of columns, or by
 * the scopes of an API key. The rules that decide about rows are taken as TRUE.
 */
function columnsFor(asked: ExplainedCall): Explanation["columns"] {
  const { caller, table, services } = asked;
  const rules = { ...services.project.rules.get(table.name)!, read: TRUE, create: TRUE };
  const open = accessUnder(rules, asked, caller.kind === "key" ? "read" : "create");
  const writing = caller.kind === "key" ? accessUnder(rules, asked, "create") : open;
  const mayRead = (column: string) =>
    !isRefusal(open) && (caller.kind !== "key" || permits(caller.scopes, table.name, "read"))
      ? open.readable.has(column)
      : false;
  const mayWrite = (column: string) => !isRefusal(writing) && writing.mayWrite(column);
  return Object.fromEntries(
    [...table.columns.keys()].map((column) => [column, { read: mayRead(column), write: mayWrite(column) }]),
  );
}

/** What each kind of call finds out for its explanation; the rest is the same for all. */
interface Found
  extends Pick<Explanation, "terms" | "way" | "indexes" | "rows_read">,
    Partial<Pick<Explanation, "values" | "not_judged" | "plan">> {
  readonly verdict: Verdict;
  readonly rule: PlacedRule | ExplainedRule | null;
  /** The call's statement; null where none is sent. SQLite is asked for its plan, unless `plan` has it. */
  readonly statement: Statement | null;
  readonly counts?: ExplainedCounts | null;
}

/** Whether a call is allowed, and why. */
export type Verdict = Pick<Explanation, "allowed" | "reason" | "refusal">;

/** Makes an explanation of what was found out about a call. */
export async function explanationOf(asked: ExplainedCall, found: Found): Promise<Explanation> {
  const { verdict, rule, terms, values = {}, not_judged = [], statement, way, indexes, rows_read } = found;
  const plan = found.plan ?? (statement === null ? [] : await planOf(asked, statement));
  return {
    ...verdict,
    rule: hasTerms(rule) ? rule.rule : rule,
    terms,
    columns: columnsFor(asked),
    values,
    not_judged,
    sql: statement?.sql ?? null,
    plan,
    way,
    indexes,
    rows_read,
    ms: Math.round(asked.timer.taken() * 10) / 10,
    ...(found.counts && { counts: found.counts }),
  };
}

/** The verdict on a call that is refused. */
export function refused(refusal: Refusal, reason = refusal.message): Verdict {
  const { status, code, message } = refusal;
  return { allowed: false, reason, refusal: { status, code, message } };
}

/** Returns SQLite's query plan of a statement; empty where SQLite does not answer in time. */
async function planOf(asked: ExplainedCall, statement: Statement): Promise<readonly PlanLine[]> {
  const results = await queryInTime(asked, [planQuestion(statement)], 1);
  return results === undefined ? [] : planLines(results[0]!);
}

/**
 * Returns the indexes that would help with the `exists` in the caller's rule: one for each `exists` whose rows no index
 * finds yet, except where these are rows of `$users`.
 */
export function indexesForExists({ table, catalog, rule }: Access): Explanation["indexes"] {
  return unservedIn(rule, table.name, catalog)
    .filter(({ exists, columns }) => exists.table !== "$users" && columns.length > 0)
    .map(({ exists, columns }) => ({ table: exists.table, columns }));
}
