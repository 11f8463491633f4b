import { askNewestEntry, closeTransaction, openTransaction } from "../../changes/transactions.js";
import { toHex } from "../../encoding/hex.js";
import { Refusal } from "../../http/refusal.js";
import { abortText, nonceBytes, undo } from "../../platform/abort.js";
import { AbortError, type Result, type Statement } from "../../platform/database.js";
import { longWorkOf, type WriteExecution } from "../execution.js";
import type { PlanQuestion } from "../plan-check.js";
import { refusalOfError } from "../row/refused-write.js";
import type { RowWrite } from "../row/row-write.js";
import { finishRows } from "../sql/finish-rows.js";
import { type NotStanding, rowsWrittenBy, type Step, type StepOutcome, triggersOfSteps } from "./step.js";

/** Statements of the server's own that belong to the same transaction. */
export interface Beside {
  /**
   * Come first. A guard among them gives `abortText(nonce, …)` with a reason that holds no colon; it comes back as `stopped`.
   */
  readonly before: (nonce: string) => readonly Statement[];
  /** Come right before, and right after, the statements of step number `index`. */
  readonly around: (
    index: number,
    nonce: string,
  ) => {
    readonly before: readonly Statement[];
    readonly after: readonly Statement[];
  };
  /** Come after all steps. */
  readonly last: (nonce: string) => readonly Statement[];
}

/** For a transaction in which the server has nothing of its own to do. */
export const nothingBeside: Beside = {
  before: () => [],
  around: () => ({ before: [], after: [] }),
  last: () => [],
};

/** What several have to do in one transaction, in this order. */
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

/** What has become of writes that stand or fall together. */
export type Together =
  | { readonly outcome: "written"; readonly rows: readonly WrittenTogether[] }
  /** Nothing was written, because of the step number `at`. */
  | ({ readonly outcome: "refused"; readonly at: number } & NotStanding)
  /** Nothing was written: a statement of `Beside` has undone it for this reason. */
  | { readonly outcome: "stopped"; readonly reason: string };

/** The row that a step answers with. */
export interface WrittenTogether {
  /** JSON text; null for a row that may not be read. */
  readonly json: string | null;
  readonly isNew: boolean;
}

/** From how many steps on a transaction is long work: about as many as take a few milliseconds. */
const shortStepsMax = 16;

/**
 * Carries steps out in one transaction and one round trip: all of them, or nothing. Each is judged by what the steps
 * before it have left. Which step the database refused is not told by every backend: where that is not known, the steps
 * are tried again without any effect, at most log2 times as often as there are steps.
 */
export async function writeTogether(
  steps: readonly Step[],
  execution: WriteExecution,
  beside: Beside = nothingBeside,
): Promise<Together> {
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
    if (error instanceof AbortError && error.nonce === nonce) {
      const stopped = stoppedBy(error.reason, steps);
      // How many rows were read until then is lost with the results.
      if (stopped.outcome === "refused") tally.add(null);
      return stopped;
    }
    const { at, writes } = await failedAt(steps, execution, nonce, beside);
    for (const write of writes) {
      const refusal = await refusalOfError(error, write, execution);
      if (refusal === null) continue;
      tally.add(null);
      return { outcome: "refused", at, refusal, differing: null };
    }
    throw error;
  }
}

/** A transaction of more statements than the database takes. */
function tooMany(steps: number): Together {
  const message = "these are more writes than one transaction of this database takes: send fewer at once";
  return {
    outcome: "refused",
    at: steps - 1,
    refusal: new Refusal("payload_too_large", message),
    differing: null,
  };
}

function batchDuration(steps: readonly Step[]) {
  const isShort = steps.length <= shortStepsMax && steps.every(({ duration }) => duration === "short");
  return isShort ? "short" : "long";
}

/** What the reason says by which a guard has undone the transaction: `<step>:<reason>`, or a word of `Beside`. */
function stoppedBy(reason: string, steps: readonly Step[]): Together {
  const [, index, why] = /^(\d+):(.*)$/.exec(reason) ?? [];
  if (index === undefined) return { outcome: "stopped", reason };
  const refused = steps[Number(index)]!.refused(why!);
  return { outcome: "refused", at: refused.part ?? Number(index), ...refused };
}

interface Assembled {
  readonly statements: readonly Statement[];
  readonly read: (results: readonly Result[]) => readonly WrittenTogether[];
}

function assembled(
  steps: readonly Step[],
  execution: WriteExecution,
  nonce: string,
  beside: Beside,
): Assembled {
  const isLogged = triggersOfSteps(steps).some(({ logged }) => logged);
  const statements: Statement[] = [...beside.before(nonce)];
  const marks: number[] = [];
  const mark = () => {
    // How many entries of the log a step has made is told by the number of the newest one before and after it.
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

function finished({ writes }: Step, json: string): string {
  return finishRows(json, [...writes[0]!.access.table.columns.values()]);
}

/** What has to be asked about the plans of the steps' statements: of statements with the same text one. */
function questionsOf(steps: readonly Step[], { plans, nowMs }: WriteExecution): readonly PlanQuestion[] {
  const asked = new Map(
    steps.flatMap((step) => step.asked.map((each) => [each.statement.sql, each] as const)),
  );
  return [...asked.values()]
    .map((counted) => plans.questionOf(counted, nowMs))
    .filter(({ statements }) => statements.length > 0);
}

/** Whether the number of rows that a step has examined is known, now that the questions are answered. */
function isExact({ asked }: StepOutcome, { plans, nowMs }: WriteExecution): boolean {
  return asked.every((counted) => plans.questionOf(counted, nowMs).isExact([]));
}

/**
 * The number of the step that the database refuses, or of the row of an only step, and the writes that it is. Every batch
 * of these is undone at its end. What stands around the steps comes with them, because a step may refer to what another one
 * has left there.
 */
async function failedAt(
  steps: readonly Step[],
  execution: WriteExecution,
  nonce: string,
  { around }: Beside,
): Promise<{ readonly at: number; readonly writes: readonly RowWrite[] }> {
  const parts = steps.length === 1 ? steps[0]!.parts : undefined;
  const first = (count: number) => (parts === undefined ? steps.slice(0, count) : [parts.first(count)]);
  const tried = async (count: number): Promise<boolean> => {
    const { statements } = assembled(first(count), execution, nonce, {
      before: () => [],
      around,
      last: () => [undo(nonce, "tried")],
    });
    const long = longWorkOf(execution, batchDuration(steps));
    const error: unknown = await execution.database
      .batch(statements, long)
      .catch((thrown: unknown) => thrown);
    return error instanceof AbortError && error.nonce === nonce && error.reason === "tried";
  };
  let standing = 0;
  let failing = parts?.count ?? steps.length;
  while (failing - standing > 1) {
    const middle = (standing + failing) >> 1;
    if (await tried(middle)) standing = middle;
    else failing = middle;
  }
  const at = failing - 1;
  return { at, writes: parts === undefined ? steps[at]!.writes : [parts.write(at)] };
}
