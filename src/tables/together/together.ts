import { askNewestEntry, closeTransaction, openTransaction } from "../../changes/transactions.js";
import { toHex } from "../../encoding/hex.js";
import { Refusal } from "../../http/refusal.js";
import { abortText, isAbort, nonceBytes, undo } from "../../platform/abort.js";
import { ConstraintError, type Result, type Statement, StatementError } from "../../platform/database.js";
import { longWorkOf, type WriteExecution } from "../execution.js";
import type { PlanQuestion } from "../plan-check.js";
import { refusalOfError } from "../row/refused-write.js";
import type { RowWrite } from "../row/row-write.js";
import { finishRows } from "../sql/finish-rows.js";
import {
  type NotStanding,
  rowsWrittenBy,
  type StepOutcome,
  triggersOfSteps,
  type WriteStep,
} from "./step.js";

/** Statements of the server's own in the transaction of several writes. */
export interface Beside {
  /**
   * Statements that come first. A guard among them gives `abortText(nonce, …)` with a reason that holds no colon, which
   * is returned as `stopped`.
   */
  readonly before: (nonce: string) => readonly Statement[];
  /** Statements right before, and right after, those of the step with the number `index`. */
  readonly around: (
    index: number,
    nonce: string,
  ) => {
    readonly before: readonly Statement[];
    readonly after: readonly Statement[];
  };
  /** Statements of the server's own after all steps. */
  readonly last: (nonce: string) => readonly Statement[];
}

/** Used for a transaction in which the server has no statements of its own. */
export const nothingBeside: Beside = {
  before: () => [],
  around: () => ({ before: [], after: [] }),
  last: () => [],
};

/** Joins the statements of several `Beside` for one transaction, in this order. */
export function allBeside(parts: readonly Beside[]): Beside {
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

/** The outcome of writes in one transaction, which are all done or none of them. */
export type Together =
  | { readonly outcome: "written"; readonly rows: readonly WrittenTogether[] }
  /** Nothing was written, because of the step with the number `at`. */
  | ({ readonly outcome: "refused"; readonly at: number } & NotStanding)
  /** Nothing was written: a statement of `Beside` has undone the transaction for this reason. */
  | { readonly outcome: "stopped"; readonly reason: string };

/** A row that a step answers with. */
export interface WrittenTogether {
  /** The row as JSON text; null for a row that may not be read. */
  readonly json: string | null;
  readonly isNew: boolean;
}

/** From how many steps on a transaction counts as long work: about as many as take a few milliseconds. */
const shortStepsMax = 16;

/** How many times steps are carried out at most where other requests meanwhile change what is in their way. */
const attemptsMax = 3;

/**
 * Carries out steps in one transaction and one round trip: all of them, or nothing. Each is tested against what the
 * steps before it have left. Not every backend tells which step the database has refused: where that is not known, the
 * steps are tried again without any effect, at most log2 times as often as there are steps and twice more. If others
 * have changed rows in between, so that it cannot be told, everything begins anew.
 */
export async function writeTogether(
  steps: readonly WriteStep[],
  execution: WriteExecution,
  beside: Beside = nothingBeside,
): Promise<Together> {
  for (let left = attemptsMax - 1; left > 0; left--) {
    const together = await attempt(steps, execution, beside);
    if (together.outcome !== "unsure") return together;
  }
  const last = await attempt(steps, execution, beside);
  return last.outcome === "unsure" ? last.guess() : last;
}

/**
 * The outcome where the database has refused the steps for a reason that is gone when it is looked for; `guess` blames
 * a step.
 */
interface Unsure {
  readonly outcome: "unsure";
  readonly guess: () => Promise<Together>;
}

async function attempt(
  steps: readonly WriteStep[],
  execution: WriteExecution,
  beside: Beside,
): Promise<Together | Unsure> {
  const { database, tally } = execution;
  const nonce = toHex(execution.random.bytes(nonceBytes));
  const batch = assembled(steps, execution, nonce, beside);
  const { statementsMax } = steps[0]!.writes[0]!.access.catalog;
  if (statementsMax !== null && batch.statements.length > statementsMax) return tooMany(steps.length);
  const long = longWorkOf(execution, batchDuration(steps));
  try {
    const results = await tally.during(database.batch(batch.statements, long));
    return { outcome: "written", rows: batch.read(results) };
  } catch (error) {
    if (isAbort(error, nonce)) return stoppedBy(error.reason, steps, execution);
    // Only after these errors is it known that nothing was committed.
    if (!(error instanceof ConstraintError || error instanceof StatementError)) throw error;
    const blamed = await failedAt(steps, execution, nonce, beside, error);
    const guess = () => refusedBy(error, blamed, execution);
    if (blamed.error === null) return { outcome: "unsure", guess };
    if (isAbort(blamed.error, nonce)) return stoppedBy(blamed.error.reason, steps, execution);
    return refusedBy(blamed.error, blamed, execution);
  }
}

/** The refusal by an error of the database. Throws the error where it is no fault of the request. */
async function refusedBy(
  error: unknown,
  { at, writes }: Blamed,
  execution: WriteExecution,
): Promise<Together> {
  for (const write of writes) {
    const refusal = await refusalOfError(error, write, execution);
    if (refusal === null) continue;
    execution.tally.add(null);
    return { outcome: "refused", at, refusal, differing: null };
  }
  throw error;
}

/** The refusal of a transaction with more statements than the database takes. */
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

/** Reads the reason for which a guard has undone the transaction: `<step>:<reason>`, or a word of `Beside`. */
function stoppedBy(
  reason: string,
  steps: readonly WriteStep[],
  { tally }: Pick<WriteExecution, "tally">,
): Together {
  const [, index, why] = /^(\d+):(.*)$/.exec(reason) ?? [];
  if (index === undefined) return { outcome: "stopped", reason };
  // How many rows were read until then is lost with the results.
  tally.add(null);
  const refused = steps[Number(index)]!.refused(why!);
  return { outcome: "refused", at: refused.part ?? Number(index), ...refused };
}

interface Assembled {
  readonly statements: readonly Statement[];
  readonly read: (results: readonly Result[]) => readonly WrittenTogether[];
}

function assembled(
  steps: readonly WriteStep[],
  execution: WriteExecution,
  nonce: string,
  beside: Beside,
): Assembled {
  const isLogged = triggersOfSteps(steps).some(({ logged }) => logged);
  const statements: Statement[] = [...beside.before(nonce)];
  const marks: number[] = [];
  const mark = () => {
    // The number of the log's newest entry, before and after a step, tells how many entries the step has made.
    if (isLogged) marks.push(statements.push(askNewestEntry) - 1);
  };
  if (isLogged) statements.push(openTransaction(execution.changedBy()));
  mark();
  const ranges = steps.map((step, index) => {
    const { before, after } = beside.around(index, nonce);
    statements.push(...before);
    const from = statements.length;
    statements.push(...step.statements(abortText(nonce, `${index}:`)));
    const to = statements.length;
    mark();
    statements.push(...after);
    return { from, to };
  });
  if (isLogged) statements.push(...closeTransaction);
  statements.push(...beside.last(nonce));
  const asked = questionsOf(steps, execution).map((question) => {
    const end = statements.push(...question.statements);
    return (results: readonly Result[]) => question.isExact(results.slice(0, end));
  });
  return {
    statements,
    read: (results) => {
      const seqAt = (i: number) => (isLogged ? (results[marks[i]!]!.rows[0]![0] as number) : 0);
      for (const answered of asked) answered(results);
      const outcomes = steps.map((step, i) => step.read(results.slice(ranges[i]!.from, ranges[i]!.to)));
      outcomes.forEach((outcome, i) => {
        execution.tally.add(
          isExact(outcome, execution) ? outcome.rowsRead : null,
          rowsWrittenBy(outcome, seqAt(i + 1) - seqAt(i)),
        );
      });
      return outcomes.flatMap(({ rows }, i) =>
        rows.map(({ json, isNew }) => ({ json: json && finished(steps[i]!, json), isNew })),
      );
    },
  };
}

function finished({ writes }: WriteStep, json: string): string {
  return finishRows(json, [...writes[0]!.access.table.columns.values()]);
}

/** The questions about the query plans of the steps' statements: one for statements with the same text. */
function questionsOf(steps: readonly WriteStep[], { plans, nowMs }: WriteExecution): readonly PlanQuestion[] {
  const asked = new Map(
    steps.flatMap((step) => step.asked.map((each) => [each.statement.sql, each] as const)),
  );
  return [...asked.values()]
    .map((counted) => plans.questionOf(counted, nowMs))
    .filter(({ statements }) => statements.length > 0);
}

/**
 * Whether the number of rows that a step has examined is known, now that the questions about query plans are answered.
 */
function isExact({ asked }: StepOutcome, { plans, nowMs }: WriteExecution): boolean {
  return asked.every((counted) => plans.questionOf(counted, nowMs).isExact([]));
}

/** The step that the database has refused. */
interface Blamed {
  /** The number of the step, or that of the row where the only step writes several. */
  readonly at: number;
  /** The writes that the step consists of. */
  readonly writes: readonly RowWrite[];
  /** The database's error for the step; null where it has none any more, or not for this step. */
  readonly error: unknown;
}

/**
 * Finds the step that the database refuses, after the error `error` for all of them together. Every batch that is tried
 * for this is undone at its end. The statements around the steps are sent too, because a step may refer to what another
 * one has left there.
 */
async function failedAt(
  steps: readonly WriteStep[],
  execution: WriteExecution,
  nonce: string,
  beside: Beside,
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
  /** Why the first `count` steps cannot be done; null where they can. */
  const tried = async (count: number): Promise<unknown> => {
    const { before, around, last }: Beside =
      count === all ? beside : { ...nothingBeside, around: beside.around };
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
  // Others may write in between, so this step is blamed only if the steps before it can be done both before and after
  // it has failed.
  const why = await tried(failing);
  const isIt = at === 0 || (await tried(at)) === null;
  return { ...blamed(at), error: isIt ? why : null };
}
