import { askNewestEntry, closeTransaction, openTransaction } from "../../changes/transactions.js";
import { toHex } from "../../encoding/hex.js";
import { Refusal } from "../../http/refusal.js";
import { abortText, isAbort, nonceBytes, undo } from "../../platform/abort.js";
import type { AtOnce } from "../../platform/at-once.js";
import { ConstraintError, MemoryError, type Result, type Statement, StatementError } from "../../platform/database.js";
import { longWorkOf, type WriteExecution } from "../execution/execution.js";
import type { PlanQuestion } from "../plan/plan-check.js";
import { refusalOfError } from "../row/refused-write.js";
import type { RowWrite } from "../row/row-write.js";
import { finishRows } from "../sql/finish-rows.js";
import { type NotStanding, rowsWrittenBy, type StepOutcome, triggersOfSteps, type WriteStep } from "./step.js";

/** Statements of the server's own in a transaction with the writes of a request, such as keeping the answer. */
export interface ServerStatements {
  /**
   * Makes the statements that come before all writes. A guard among them can undo the transaction with
   * `abortText(nonce, …)` and a reason without a colon: the outcome is then `stopped`, with this reason.
   */
  readonly before: (nonce: string) => readonly Statement[];
  /** Makes the statements that come right before, and right after, those of the step with the number `index`. */
  readonly around: (
    index: number,
    nonce: string,
  ) => {
    readonly before: readonly Statement[];
    readonly after: readonly Statement[];
  };
  /** Makes the statements that come after all writes. */
  readonly last: (nonce: string) => readonly Statement[];
}

/** The `ServerStatements` without statements: for a transaction in which the server has none of its own. */
export const noServerStatements: ServerStatements = {
  before: () => [],
  around: () => ({ before: [], after: [] }),
  last: () => [],
};

/** Joins several `ServerStatements`: at each place the statements of the first come first, then those of the second. */
export function joinServerStatements(parts: readonly ServerStatements[]): ServerStatements {
  return {
    before: (nonce) => parts.flatMap((part) => part.before(nonce)),
    around: (index, nonce) => {
      const each = parts.map((part) => part.around(index, nonce));
      return {
        before: each.flatMap(({ before }) => before),
        after: each.flatMap(({ after }) => after),
      };
    },
    last: (nonce) => parts.flatMap((part) => part.last(nonce)),
  };
}

/** The outcome of several writes in one transaction: all of them were done, or none. */
export type Together =
  | { readonly outcome: "written"; readonly rows: readonly WrittenTogether[] }
  /**
   * Nothing was written, because the step with the number `at` was refused. Where one step creates several rows, `at`
   * is the number of the row.
   */
  | ({ readonly outcome: "refused"; readonly at: number } & NotStanding)
  /** Nothing was written, because a statement of `ServerStatements` has undone the transaction for this reason. */
  | { readonly outcome: "stopped"; readonly reason: string };

/** A row that a write of the transaction is answered with. */
export interface WrittenTogether {
  /** The row as JSON text in its final form; null for a row that the caller may not read. */
  readonly json: string | null;
  readonly isNew: boolean;
}

/** With more steps than this a transaction counts as long work, even where each step by itself is short. */
const shortStepsMax = 16;

/**
 * How many times a request's steps are carried out at most, where other requests change rows in between, so that it
 * cannot be told which step the database refuses.
 */
const attemptsMax = 3;

/**
 * Carries out steps in one transaction and one round trip: all of them, or nothing. Each step is tested against what
 * the steps before it have left.
 *
 * Not every backend tells which step an error belongs to. To find out, parts of the steps are tried again in
 * transactions that are undone, at most log2 of the number of steps, and two more. If others have changed rows in
 * between, so that no step can be blamed, everything begins anew. At the third attempt, the step that the search has
 * come to is blamed all the same.
 */
export async function writeTogether(
  steps: readonly WriteStep[],
  execution: WriteExecution,
  own: ServerStatements = noServerStatements,
): Promise<Together> {
  for (let left = attemptsMax - 1; left > 0; left--) {
    const together = await attempt(steps, execution, own);
    if (together.outcome !== "unsure") return together;
  }
  const last = await attempt(steps, execution, own);
  return last.outcome === "unsure" ? last.guess() : last;
}

/**
 * The outcome where the database has refused the steps with an error, but no longer did so when the step to blame was
 * looked for. `guess` blames the step that the search has come to.
 */
interface Unsure {
  readonly outcome: "unsure";
  readonly guess: () => Promise<Together>;
}

async function attempt(
  steps: readonly WriteStep[],
  execution: WriteExecution,
  own: ServerStatements,
): Promise<Together | Unsure> {
  const { database, tally } = execution;
  const nonce = toHex(execution.random.bytes(nonceBytes));
  const batch = assembled(steps, execution, nonce, own);
  const { statementsMax } = steps[0]!.writes[0]!.access.catalog;
  if (statementsMax !== null && batch.statements.length > statementsMax) return tooMany(steps.length);
  const long = longWorkOf(execution, batchDuration(steps));
  try {
    const results = await tally.during(database.batch(batch.statements, long));
    return { outcome: "written", rows: await batch.read(results) };
  } catch (error) {
    if (isAbort(error, nonce)) return stoppedBy(error.reason, steps, execution);
    // After these errors it is certain that nothing was committed. Any other error is passed on.
    if (![ConstraintError, MemoryError, StatementError].some((kind) => error instanceof kind)) throw error;
    const blamed = await failedAt(steps, execution, nonce, own, error);
    const guess = () => refusedBy(error, blamed, execution);
    if (blamed.error === null) return { outcome: "unsure", guess };
    if (isAbort(blamed.error, nonce)) return stoppedBy(blamed.error.reason, steps, execution);
    return refusedBy(blamed.error, blamed, execution);
  }
}

/** Turns the database's error into a refusal of the step to blame; throws it where no request is at fault. */
async function refusedBy(error: unknown, { at, writes }: Blamed, execution: WriteExecution): Promise<Together> {
  for (const write of writes) {
    const refusal = await refusalOfError(error, write, execution);
    if (refusal === null) continue;
    execution.tally.add(null);
    return { outcome: "refused", at, refusal, differing: null };
  }
  throw error;
}

/** The refusal (413) of a transaction that needs more statements than this database takes. */
function tooMany(steps: number): Together {
  const message = "these are more writes than one transaction of this database takes: send fewer at once";
  return {
    outcome: "refused",
    at: steps - 1,
    refusal: new Refusal("payload_too_large", message),
    differing: null,
  };
}

function batchDuration(steps: readonly WriteStep[]) {
  const isShort = steps.length <= shortStepsMax && steps.every(({ duration }) => duration === "short");
  return isShort ? "short" : "long";
}

/**
 * Reads the reason with which a guard has undone the transaction. It is `<step>:<reason>` if a step's guard gave it,
 * else a reason without a colon from a statement of `ServerStatements`.
 */
function stoppedBy(reason: string, steps: readonly WriteStep[], { tally }: Pick<WriteExecution, "tally">): Together {
  const [, index, why] = /^(\d+):(.*)$/.exec(reason) ?? [];
  if (index === undefined) return { outcome: "stopped", reason };
  // How many rows were read before the transaction was undone is not known: the results of its statements are lost.
  tally.add(null);
  const refused = steps[Number(index)]!.refused(why!);
  return { outcome: "refused", at: refused.part ?? Number(index), ...refused };
}

function assembled(
  steps: readonly WriteStep[],
  execution: WriteExecution,
  nonce: string,
  own: ServerStatements,
): {
  readonly statements: readonly Statement[];
  readonly read: (results: readonly Result[]) => Promise<readonly WrittenTogether[]>;
} {
  const isLogged = triggersOfSteps(steps).some(({ logged }) => logged);
  const statements: Statement[] = [...own.before(nonce)];
  const marks: number[] = [];
  const mark = () => {
    // Asks for the number of the log's newest entry, before the first step and after each: the difference is how many
    // entries of the log a step has made.
    if (isLogged) marks.push(statements.push(askNewestEntry) - 1);
  };
  if (isLogged) statements.push(openTransaction(execution.changedBy()));
  mark();
  const ranges = steps.map((step, index) => {
    const { before, after } = own.around(index, nonce);
    statements.push(...before);
    const from = statements.length;
    statements.push(...step.statements(abortText(nonce, `${index}:`)));
    const to = statements.length;
    mark();
    statements.push(...after);
    return { from, to };
  });
  if (isLogged) statements.push(...closeTransaction);
  statements.push(...own.last(nonce));
  const asked = questionsOf(steps, execution).map((question) => {
    const end = statements.push(...question.statements);
    return (results: readonly Result[]) => question.isExact(results.slice(0, end));
  });
  return {
    statements,
    read: async (results) => {
      const seqAt = (i: number) => (isLogged ? (results[marks[i]!]!.rows[0]![0] as number) : 0);
      for (const answered of asked) answered(results);
      const outcomes = steps.map((step, i) => step.read(results.slice(ranges[i]!.from, ranges[i]!.to)));
      outcomes.forEach((outcome, i) => {
        execution.tally.add(
          isExact(outcome, execution) ? outcome.rowsRead : null,
          rowsWrittenBy(outcome, seqAt(i + 1) - seqAt(i)),
        );
      });
      const rows = outcomes.flatMap(({ rows }, i) =>
        rows.map(async ({ json, isNew }) => ({ json: json && (await finished(steps[i]!, json)), isNew })),
      );
      return Promise.all(rows);
    },
  };
}

function finished({ writes }: WriteStep, json: string): AtOnce<string> {
  return finishRows(json, [...writes[0]!.access.table.columns.values()]);
}

/**
 * Questions about the query plans of the statements that the steps name (`WriteStep.asked`). Statements with the same
 * text share one question.
 */
function questionsOf(steps: readonly WriteStep[], { plans, nowMs }: WriteExecution): readonly PlanQuestion[] {
  const asked = new Map(steps.flatMap((step) => step.asked.map((each) => [each.statement.sql, each] as const)));
  return [...asked.values()]
    .map((counted) => plans.questionOf(counted, nowMs))
    .filter(({ statements }) => statements.length > 0);
}

/** Whether it is known how many rows a step has examined, after the questions about plans are answered. */
function isExact({ asked }: StepOutcome, { plans, nowMs }: WriteExecution): boolean {
  return asked.every((counted) => plans.questionOf(counted, nowMs).isExact([]));
}

/** The step to blame for an error of the database. */
interface Blamed {
  /** The number of the step in the request. Where the only step creates several rows, the number of the row. */
  readonly at: number;
  /** The writes that the step to blame may have come to, such as an update or an insert. */
  readonly writes: readonly RowWrite[];
  /**
   * The error of the database when the steps up to this one were tried again. Null where they can be done now, or where
   * the steps before this one cannot be done either, so that no step can be blamed.
   */
  readonly error: unknown;
}

/**
 * Finds the step that the database refuses, by a binary search, after all steps together have failed with `error`. Each
 * trial is a batch that undoes itself at its end. The statements of `beside` around the steps are sent too, because a
 * step may refer to a value that those of an earlier step have put aside.
 */
async function failedAt(
  steps: readonly WriteStep[],
  execution: WriteExecution,
  nonce: string,
  own: ServerStatements,
  error: unknown,
): Promise<Blamed> {
  const parts = steps.length === 1 ? steps[0]!.parts : undefined;
  const all = parts?.count ?? steps.length;
  const blamed = (at: number) => ({
    at,
    writes: parts === undefined ? steps[at]!.writes : [parts.write(at)],
  });
  if (all === 1) return { ...blamed(0), error };
  const first = (count: number) => (parts === undefined ? steps.slice(0, count) : [parts.first(count)]);
  /** Tries the first `count` steps and undoes them: the error with which they fail; null where they can be done. */
  const tried = async (count: number): Promise<unknown> => {
    const { before, around, last }: ServerStatements =
      count === all ? own : { ...noServerStatements, around: own.around };
    const { statements } = assembled(first(count), execution, nonce, {
      before,
      around,
      last: () => [...last(nonce), undo(nonce, "tried")],
    });
    const long = longWorkOf(execution, batchDuration(steps));
    const thrown: unknown = await execution.database.batch(statements, long).catch((why: unknown) => why);
    return isAbort(thrown, nonce) && thrown.reason === "tried" ? null : thrown;
  };
  let standing = 0;
  let failing = all;
  while (failing - standing > 1) {
    const middle = (standing + failing) >> 1;
    if ((await tried(middle)) === null) standing = middle;
    else failing = middle;
  }
  const at = failing - 1;
  // Other requests may write between the trials. So the step is blamed only if it fails once more, and if the steps
  // before it can be done even after that.
  const why = await tried(failing);
  const isIt = at === 0 || (await tried(at)) === null;
  return { ...blamed(at), error: isIt ? why : null };
}
