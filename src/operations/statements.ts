import { askNewestEntry, closeTransaction, openTransaction } from "../changes/transactions.js";
import { abortText } from "../platform/abort.js";
import type { Result, Statement } from "../platform/database.js";
import type { NamedOperation } from "../project/model.js";
import type { Expression } from "../rules/ast.js";
import { alwaysTrue } from "../rules/fold.js";
import type { LiveProject } from "../schema/live-project.js";
import type { WriteExecution } from "../tables/execution/execution.js";
import { type KeptRequest, keepValue, keptAnswer, unlessKept } from "../tables/sql/kept-answers.js";
import {
  changedRows,
  only,
  ownersText,
  returnedRowsMax,
  returningJson,
  selectedJson,
  undoing,
  whereAllowed,
  whereChanged,
  whereChangedWithin,
  whereFound,
} from "../tables/sql/operation.js";
import { bind, bindSingle, param, type SlotValues, type Sql, sql } from "../tables/sql-text/fragment.js";
import { notAllowed, stepReason } from "./step-refusal.js";
import { consequencesOf, writtenBy } from "./written-rows.js";

/** What the statements of one run of an operation are made of. */
export interface RunOf {
  readonly operation: NamedOperation;
  /** What of the operation's rule the database has to decide; the literal `TRUE` where nothing is left. */
  readonly allow: Expression;
  readonly project: Pick<LiveProject, "schema" | "catalog">;
  readonly values: readonly SlotValues[];
}

/** Whether all steps only read, so that the operation can also be called by GET. */
export function onlyReads({ steps }: NamedOperation): boolean {
  return steps.every(({ statement }) => statement.kind === "select");
}

/** The statement of an operation that only reads, and how its result is read. */
export interface ReadingRun {
  readonly statement: Statement;
  /** Whether the operation's rule is decided quickly, by looking up single rows by indexes. */
  readonly isShort: boolean;
  /** The answer, as JSON text that `finishRows` completes, or the reason why the operation is refused. */
  readonly read: (result: Result) => { readonly json: string } | { readonly reason: string };
}

const refusedMark = "!";

/**
 * The statement of an operation that only reads. It is a single one, so that all steps see the same state of the
 * database. Its result is one text: the answer as JSON, or `!` and the reason why the operation is refused.
 */
export function readingRun({ operation, allow, project, values }: RunOf): ReadingRun {
  const { catalog } = project;
  const refused = (reason: string) => param(refusedMark + reason);
  const returning = operation.steps.findIndex(({ returns }) => returns !== null);
  const json =
    returning === -1
      ? sql`'null'`
      : selectedJson(operation.steps[returning]!, catalog.pageBytesMax, (of) => refused(stepReason(returning, of)));
  const answer = operation.steps.reduceRight<Sql>(
    (later, { statement, expect }, index) =>
      expect === null ? later : whereFound(statement, expect, later, refused(stepReason(index))),
    json,
  );
  const gated = alwaysTrue(allow)
    ? { value: answer, exact: true }
    : whereAllowed(allow, catalog, answer, refused(notAllowed));
  return {
    statement: bindSingle(only(gated.value), values),
    isShort: gated.exact,
    read: ({ rows }) => {
      const text = rows[0]![0] as string;
      return text.startsWith(refusedMark) ? { reason: text.slice(refusedMark.length) } : { json: text };
    },
  };
}

/** The statements of an operation that writes, and how their results are read. */
export interface WritingRun {
  readonly statements: readonly Statement[];
  /**
   * Whether the statements, except for the steps themselves, take little time: the operation's rule is decided quickly,
   * and triggers and foreign keys do not lead to any number of other rows.
   */
  readonly isShort: boolean;
  /**
   * Whether the batch itself keeps the answer for a repetition of the request, because it comes from a SELECT. If not,
   * and rows are returned, the batch keeps an empty answer, and the true one is stored after the transaction.
   */
  readonly isKept: boolean;
  /** The answer as JSON text that `finishRows` completes, and how many rows were written; null if that is not known. */
  readonly read: (results: readonly Result[]) => {
    readonly json: string;
    readonly rowsWritten: number | null;
  };
}

/**
 * The batch of an operation that writes. After each step that expects a number of rows, a guard undoes the whole batch
 * (by `abortText`, with the nonce and a reason) if the number is another one. `kept` is set for a request with an
 * `Idempotency-Key`: the batch is undone for the reason `kept` if the request was done before, and otherwise keeps the
 * answer for a repetition.
 */
export function writingRun(
  { operation, allow, project, values }: RunOf,
  execution: Pick<WriteExecution, "changedBy">,
  nonce: string,
  kept: KeptRequest | null,
): WritingRun {
  const { catalog } = project;
  const refused = (reason: string) => undoing(abortText(nonce, reason));
  const statements: Statement[] = [];
  const add = (each: Sql) => statements.push(bind(each, values)) - 1;
  if (kept !== null) statements.push(unlessKept(kept, nonce));
  const keepAnswer = (request: KeptRequest, answer: Sql) => {
    statements.push(keepValue(request, answer, values));
    return statements.push(keptAnswer(request)) - 1;
  };
  const gate = alwaysTrue(allow) ? null : whereAllowed(allow, catalog, sql`1`, refused(notAllowed));
  if (gate !== null) add(only(gate.value));
  const consequences = operation.steps.map((step) => consequencesOf(step, project));
  const isLogged = consequences.some((each) => each?.triggers.some(({ logged }) => logged));
  const mark = () => (isLogged ? statements.push(askNewestEntry) - 1 : null);
  if (isLogged) statements.push(openTransaction(execution.changedBy()));
  let before = mark();
  let json: (results: readonly Result[]) => string = () => "null";
  const written: ((results: readonly Result[]) => number | null)[] = [];
  operation.steps.forEach((step, index) => {
    const reasoned = (of: string) => refused(stepReason(index, of));
    const { statement, expect, returns } = step;
    const follows = consequences[index];
    if (follows == null) {
      if (expect !== null) add(only(whereFound(statement, expect, sql`1`, refused(stepReason(index)))));
      if (returns !== null) {
        const answer = selectedJson(step, catalog.pageBytesMax, reasoned);
        const at = kept === null ? add(only(answer)) : keepAnswer(kept, answer);
        json = (results) => results[at]!.rows[0]!.at(-1) as string;
      }
    } else {
      const at = add(returns === null ? ownersText(statement) : returningJson(step));
      const changedAt = add(changedRows);
      if (expect !== null) add(only(whereChanged(expect, sql`1`, refused(stepReason(index)))));
      if (returns !== null) {
        const least = returns === "one" ? 1 : 0;
        add(only(whereChangedWithin(least, returnedRowsMax, sql`1`, reasoned)));
        json = (results) => joined(results[at]!, returns);
      }
      const [from, to] = [before, mark()];
      before = to;
      written.push((results) => {
        const number = (i: number) => results[i]!.rows[0]![0] as number;
        const entries = from === null || to === null ? 0 : number(to) - number(from);
        return writtenBy(follows, { changed: number(changedAt), counted: results[at]!.rowsWritten, entries });
      });
    }
  });
  if (isLogged) statements.push(...closeTransaction);
  // A later statement of the batch cannot read what RETURNING has given. So the batch keeps an empty answer, which is
  // replaced by the true one when that is known.
  const isKept = operation.steps.some((step, i) => step.returns !== null && consequences[i] == null);
  const returns = operation.steps.some((step) => step.returns !== null);
  if (kept !== null && !isKept) statements.push(keepValue(kept, returns ? sql`''` : sql`'null'`, values));
  return {
    statements,
    isKept,
    isShort:
      (gate?.exact ?? true) && consequences.every((each) => each?.triggers.some(({ isLong }) => isLong) !== true),
    read: (results) => ({
      json: json(results),
      rowsWritten: written.reduce<number | null>((sum, count) => {
        const more = count(results);
        return sum === null || more === null ? null : sum + more;
      }, 0),
    }),
  };
}

/** Joins the rows of a RETURNING, each a JSON text: a single row, or an array. */
function joined({ rows }: Result, returns: "one" | "many"): string {
  const texts = rows.map(([text]) => text as string);
  return returns === "one" ? texts[0]! : `[${texts.join(",")}]`;
}
