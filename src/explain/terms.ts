import { authValues } from "../auth/callers/principal.js";
import { type Statement, StatementError } from "../platform/database.js";
import type { Column } from "../project/model.js";
import type { Expression } from "../rules/ast.js";
import { withCaller } from "../rules/specialise.js";
import type { TermTree } from "../rules/term-tree.js";
import { columnReferences } from "../rules/walk.js";
import { asShown } from "../tables/access/as-shown.js";
import { type ExplainedRow, explainStatement, type TermSql, termSql, withoutRow } from "../tables/sql/explained.js";
import { finishRows } from "../tables/sql/finish-rows.js";
import { bind, type SlotValues, type Sql } from "../tables/sql-text/fragment.js";
import { type ExplainedCall, query, queryInTime } from "./explained-call.js";
import { expressionOf, type Term, type TermOrUse, type Truth, truthsIn } from "./truths.js";

/** What the database has answered about a row and the terms of its rule. */
export interface Judged {
  /** Whether there is a row with the key. Always true for a create, which is of a row that is yet to be made. */
  readonly isThere: boolean;
  /** Whether the rule admits the row; undefined where that was not asked, or not found out in time. */
  readonly admitted: boolean | undefined;
  /** The values of the terms; twice for an update, tested with the row before it and with the row after it. */
  readonly readings: readonly ReadonlyMap<TermTree, Truth>[];
  /** The columns that `RowQuestion.shown` names, with the values that they would have after the write. */
  readonly shown: Readonly<Record<string, unknown>>;
}

/** What is asked about a row: the values of terms, whether the rule admits it, and what columns would hold. */
export interface RowQuestion {
  readonly row: ExplainedRow;
  readonly terms: readonly Term[];
  readonly asksRule: boolean;
  readonly shown: readonly Column[];
  /** The values for the placeholders in the SQL of `row`. */
  readonly values: readonly SlotValues[];
}

/**
 * Which share of the time that is left testing the whole rule may take, where it may have to read whole tables. The
 * rest is for the terms of the rule, one by one.
 */
const ruleShare = 0.6;

/**
 * Asks the database whether the rule admits a row, and for the value of each term. All that is quick is asked in one
 * statement, so that these answers are of the same moment. A rule, or a term, that may have to read whole tables is
 * asked in a statement of its own, which may not end in time. Where there is no such row, only terms that read no row
 * are evaluated.
 */
export async function judge(asked: ExplainedCall, question: RowQuestion): Promise<Judged> {
  const { row, terms, asksRule } = question;
  const parts = row.names.flatMap((names, reading) =>
    terms.map((term) => ({ term, reading, sql: termSql(bound(term, asked), names, catalogOf(asked)) })),
  );
  const asksAtOnce = asksRule && row.admitted.exact;
  const { first, together } = await firstRow(
    asked,
    question,
    asksAtOnce,
    parts.filter(({ sql }) => sql.isQuick),
  );
  const readings = row.names.map(() => new Map<TermTree, Truth>());
  if (first === undefined) {
    const rowless = await judgeWithoutRow(asked, terms);
    return { isThere: false, admitted: undefined, readings: readings.map(() => rowless), shown: {} };
  }
  const [admitted, digits, json] = first;
  const note = (some: readonly Part[], text: string) =>
    truthsIn(text).forEach((truth, i) => {
      readings[some[i]!.reading]!.set(some[i]!.term, truth);
    });
  note(together, digits);
  const late = asksRule && !asksAtOnce ? await ruleInTime(asked, question) : undefined;
  const alone = parts.filter((part) => !together.includes(part));
  for (const [i, part] of alone.entries()) {
    const results = await queryInTime(asked, [statement(asked, question, false, [part], [])], 1 / (alone.length - i));
    const digit = results?.[0]?.rows[0]?.[1];
    if (digit !== undefined) note([part], digit as string);
  }
  return {
    isThere: true,
    admitted: admitted === null ? late : admitted === 1,
    readings,
    shown: JSON.parse(await finishRows(json, [...asked.table.columns.values()])),
  };
}

type FirstRow = readonly [admitted: number | null, digits: string, shown: string];

/**
 * Asks the first statement, which has all that is quick. `first` is its row, undefined where the row in question does
 * not exist. `together` are the terms whose values are in it: all, or none where a statement with all of them fails, as
 * when it is larger than the database accepts.
 */
async function firstRow(
  asked: ExplainedCall,
  question: RowQuestion,
  asksRule: boolean,
  quick: readonly Part[],
): Promise<{ readonly first: FirstRow | undefined; readonly together: readonly Part[] }> {
  const rowOf = async (together: readonly Part[]) => {
    const [found] = await query(asked, [statement(asked, question, asksRule, together, question.shown)]);
    return { first: found!.rows[0] as FirstRow | undefined, together };
  };
  if (quick.length === 0) return rowOf(quick);
  return rowOf(quick).catch((error: unknown) => {
    if (error instanceof StatementError) return rowOf([]);
    throw error;
  });
}

interface Part {
  readonly term: Term;
  readonly reading: number;
  readonly sql: TermSql;
}

async function ruleInTime(asked: ExplainedCall, question: RowQuestion): Promise<boolean | undefined> {
  const results = await queryInTime(asked, [statement(asked, question, true, [], [])], ruleShare);
  const admitted = results?.[0]?.rows[0]?.[0];
  return admitted === undefined ? undefined : admitted === 1;
}

/** Returns the values of those terms that read no row. The others are not evaluated. */
export async function judgeWithoutRow(
  asked: ExplainedCall,
  terms: readonly Term[],
): Promise<ReadonlyMap<TermTree, Truth>> {
  const rowless = terms.filter(readsNoRow);
  if (rowless.length === 0) return new Map();
  const question = { row: withoutRow, terms: rowless, asksRule: false, shown: [], values: [] };
  return (await judge(asked, question)).readings[0]!;
}

/** Whether a term names neither `row` nor `old` nor `new`. */
export function readsNoRow(term: TermOrUse): boolean {
  return columnReferences(expressionOf(term)).every(({ source }) => typeof source === "object");
}

/** The condition of a term, or of the use of a named condition, with the values of the caller. */
export function bound(
  term: TermOrUse,
  { caller, nowMs, table, services }: Pick<ExplainedCall, "caller" | "nowMs" | "table" | "services">,
): Expression {
  const withValues = withCaller(expressionOf(term), authValues(caller), Math.floor(nowMs / 1000));
  return asShown(withValues, table.name, services.project.catalog);
}

function statement(
  asked: ExplainedCall,
  { row, values }: Pick<RowQuestion, "row" | "values">,
  asksRule: boolean,
  parts: readonly { readonly sql: TermSql }[],
  shown: readonly Column[],
): Statement {
  const physical = catalogOf(asked).tables.get(asked.table.name);
  const terms: readonly Sql[] = parts.map(({ sql }) => sql.value);
  return bind(explainStatement(row, asksRule, terms, shown, physical), values);
}

const catalogOf = ({ services }: ExplainedCall) => services.project.catalog;
