import { isRefusal, type Refusal } from "../http/refusal.js";
import type { Statement } from "../platform/database.js";
import { Memo } from "../platform/memo.js";
import type { Column } from "../project/model.js";
import { FALSE } from "../rules/fold.js";
import type { Access } from "../tables/access/access.js";
import { type Counted, followsPlan, planQuestion } from "../tables/plan/plan-check.js";
import type { RowValues } from "../tables/request/row-request.js";
import { withManaged } from "../tables/row/managed-values.js";
import { deleteOf, insertOf, type RowWrite, slots, updateOf } from "../tables/row/row-write.js";
import {
  type ExplainedRow,
  readLookups,
  rowCreated,
  rowOfTable,
  rowRead,
  rowUpdated,
} from "../tables/sql/explained.js";
import { getStatement } from "../tables/sql/row.js";
import type { WriteStatement } from "../tables/sql/write-statement.js";
import { bind, type SlotValues, type Sql } from "../tables/sql-text/fragment.js";
import type { PlanLine } from "../wire/explanation.js";
import type { ExplainRequest } from "./explain-request.js";
import { accessForCall, type ExplainedCall, queryInTime, readingExecution } from "./explained-call.js";
import { planLines } from "./plan-lines.js";
import { type RowParts, valuesOf } from "./row-parts.js";

/** The explained call: what is decided before the row is looked at, and the SQL for what the row decides. */
export interface RowCall {
  /** The refusal with which the call ends before any row is looked at; null where it depends on the row. */
  readonly refusal: Refusal | null;
  /** What the caller may do with the table; null where the caller is refused whatever the row and the values are. */
  readonly access: Access | null;
  /** The SQL of the row that the call reads or writes, with which the database tests the rule. */
  readonly row: ExplainedRow;
  /** The columns that the write sets beside those that the call sends. The explanation shows their values. */
  readonly shown: readonly Column[];
  /** The names of all columns to which the write gives values. */
  readonly written: ReadonlySet<string>;
  /** The values for the placeholders in the SQL of `row`. */
  readonly values: readonly SlotValues[];
  /** The statement that the call sends to the database; null where the call is refused before. */
  readonly sends: Sends | null;
}

/** The call's statement, and what is needed to say how many rows it reads to test the row. */
interface Sends {
  readonly statement: Statement;
  /** A SELECT of how many rows are looked up for the `exists` of the rule; null where none are. */
  readonly measured: Statement | null;
  readonly counted: Pick<Counted<Sql>, "seeks"> & { readonly asked: Statement | null };
  /** How many rows are read to find the row itself: none where it is to be created. */
  readonly own: 0 | 1;
}

/** Works out the explained call, without carrying it out. `whole` is an access to the table that no rule limits. */
export function rowCall(asked: ExplainedCall, question: ExplainRequest, parts: RowParts, whole: Access): RowCall {
  const { table } = asked;
  const before = accessForCall(asked, asked.action === "read" ? "get" : asked.action);
  const access = isRefusal(before) ? null : before;
  const byColumns = access && valuesOf(question, access);
  const { given, sent } = givenOf(asked, parts, whole);
  const write = access && writeOf(asked, access, { ...parts, sent });
  const refusal = [before, byColumns, write].find((each) => isRefusal(each)) ?? null;
  const execution = readingExecution(asked);
  const key = parts.key ?? new Map();
  return {
    refusal,
    access,
    row: rowOf(asked, access ?? { ...whole, rule: FALSE }, key, given),
    shown: [...table.columns.values()].filter((column) => isShown(asked, column, given, sent)),
    written: new Set([...given.keys(), ...(asked.action === "create" ? table.columns.keys() : [])]),
    values: [execution.values, key, given],
    sends: refusal === null ? sendsOf(asked, access!, write as RowWrite | null, key, parts) : null,
  };
}

/**
 * Returns the values that a create or an update writes: `sent` are those of the call, `given` those together with what
 * the server sets in managed columns.
 */
function givenOf(asked: ExplainedCall, { sent: asSent }: RowParts, { managed }: Access) {
  const sent: RowValues = asSent ?? new Map();
  if (asked.action !== "create" && asked.action !== "update") return { sent, given: sent };
  const kind = asked.action === "create" ? "insert" : "update";
  return { sent, given: withManaged(kind, managed, sent, readingExecution(asked)) };
}

function writeOf(
  asked: ExplainedCall,
  access: Access,
  { key, sent }: { readonly key: RowValues | null; readonly sent: RowValues },
): RowWrite | Refusal | null {
  const target = { access, writes: new Memo<WriteStatement>(0) };
  switch (asked.action) {
    case "create":
      return insertOf(target, sent, readingExecution(asked));
    case "update":
      return updateOf(target, key!, sent, readingExecution(asked));
    case "delete":
      return deleteOf(target, key!);
    default:
      return null;
  }
}

function rowOf({ action, table }: ExplainedCall, access: Access, key: RowValues, given: RowValues): ExplainedRow {
  const { rule, catalog } = access;
  const keySlots = slots(key, access);
  switch (action) {
    case "create":
      return rowCreated(table, slots(given, access), rule, catalog);
    case "update":
      return rowUpdated(table, keySlots, slots(given, access), rule, catalog);
    case "read":
      return rowRead(table, keySlots, rule, catalog);
    default:
      return rowOfTable(table, keySlots, rule, catalog);
  }
}

function isShown({ action }: ExplainedCall, column: Column, given: RowValues, sent: RowValues): boolean {
  if (sent.has(column.name)) return false;
  if (action === "create") return column.managed !== null || column.default !== null;
  return action === "update" && (given.has(column.name) || column.managed === "version");
}

function sendsOf(
  asked: ExplainedCall,
  access: Access,
  write: RowWrite | null,
  key: RowValues,
  { sent }: RowParts,
): Sends {
  const { table, catalog, rule, readable } = access;
  const { values } = readingExecution(asked);
  if (write === null) {
    const all = [values, key];
    const get = getStatement(table, slots(key, access), rule, [...readable.values()], catalog);
    const statement = bind(get.statement, all);
    return {
      statement,
      measured: bind(readLookups(table, slots(key, access), rule, catalog), all),
      counted: { seeks: get.seeks, asked: statement },
      own: 1,
    };
  }
  const all = [values, ...write.values];
  const { statement, probes, admitted, seeks } = write.statement;
  const changesNothing = asked.action === "update" && sent === null;
  const measured = probes && bind(probes, all);
  return {
    // An update that is asked about without values changes nothing, so it has no UPDATE to show. Shown instead is the
    // SELECT that tests whether the caller may update the row.
    statement: bind(changesNothing ? admitted : statement, all),
    measured,
    counted: { seeks, asked: measured },
    own: write.kind === "insert" ? 0 : 1,
  };
}

/**
 * Returns SQLite's query plan of the call's statement, and how many rows the call reads to find the row and test it.
 * Where the database does not answer in time, the plan is empty; `rowsRead` is null where the number is not known.
 */
export async function costOf(
  asked: ExplainedCall,
  { sends, row }: RowCall,
  isThere: boolean,
): Promise<{ readonly plan: readonly PlanLine[]; readonly rowsRead: number | null }> {
  if (sends === null) return { plan: [], rowsRead: 0 };
  const { statement, measured, counted, own } = sends;
  const lookups = row.admitted.exact && isThere && measured !== null ? [measured] : [];
  const others = counted.asked === null ? [] : [planQuestion(counted.asked)];
  const results = await queryInTime(asked, [planQuestion(statement), ...others, ...lookups], 1);
  if (results === undefined) return { plan: [], rowsRead: null };
  const [plan, asIs] = results.map(planLines);
  const follows =
    counted.asked === null ||
    followsPlan(
      asIs!.map(({ detail }) => detail),
      counted.seeks,
    );
  const probed = lookups.length === 0 ? 0 : Number(results.at(-1)!.rows[0]?.[0] ?? 0);
  const isKnown = (row.admitted.exact || !isThere) && follows;
  return { plan: plan!, rowsRead: isKnown ? (isThere ? own + probed : 0) : null };
}
