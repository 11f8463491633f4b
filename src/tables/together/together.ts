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

/** How many times steps are carried out at most where others change meanwhile what is in their way. */
const attemptsMax = 3;

/**
 * Carries steps out in one transaction and one round trip: all of them, or nothing. Each is judged by what the steps
 * before it have left. Which step the database refused is not told by every backend: where that is not known, the steps
 * are tried again without any effect, at most log2 times as often as there are steps and twice more. If others have
 * changed rows in between, so that it cannot be told, all begins anew.
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

/** What the database refused for a reason that is not there any more when it is looked for; `guess` blames a step. */
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
    // Only of these is it known that nothing was kept.
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

function batchDuration(steps: readonly WriteStep[]) {
  const isShort = steps.length <= shortStepsMax && steps.every(({ duration }) => duration === "short");
  return isShort ? "short" : "long";
}

/** What the reason says by which a guard has undone the transaction: `<step>:<reason>`, or a word of `Beside`. */
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

function finished({ writes }: WriteStep, json: string): string {
  return finishRows(json, [...writes[0]!.access.table.columns.values()]);
}

/** What has to be asked about the plans of the steps' statements: of statements with the same text one. */
function questionsOf(steps: readonly WriteStep[], { plans, nowMs }: WriteExecution): readonly PlanQuestion[] {
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

/** The step that the database refuses. */
interface Blamed {
  /** Its number, or that of the row of an only step. */
  readonly at: number;
  /** The writes that it is. */
  readonly writes: readonly RowWrite[];
  /** What the database says of it; null where it says nothing any more, or not of this step. */
  readonly error: unknown;
}

/**
 * Which step the database refuses, which has said `error` of all of them. Every batch of these is undone at its end. What stands around the steps comes with them,
 * because a step may refer to what another one has left there.
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
  /** Why the first steps do not stand; null where they do. */
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
  // Others write in between. It is this step if the steps before it stand before and after it has failed.
  const why = await tried(failing);
  const isIt = at === 0 || (await tried(at)) === null;
  return { ...blamed(at), error: isIt ? why : null };
}
