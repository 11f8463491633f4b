import { toHex } from "../encoding/hex.js";
import { isRefusal, Refusal } from "../http/refusal.js";
import { nonceBytes } from "../platform/abort.js";
import { AbortError, type Result } from "../platform/database.js";
import type { NamedOperation } from "../project/model.js";
import { longWorkOf, read, type WriteExecution } from "../tables/execution/execution.js";
import { finishRows } from "../tables/sql/finish-rows.js";
import { type KeptRequest, keptAnswer, replaceKept } from "../tables/sql/kept-answers.js";
import { mismatch } from "../tables/together/idempotency.js";
import { onlyReads, type RunOf, readingRun, writingRun } from "./statements.js";
import { refusalOf, stepErrorRefusal } from "./step-refusal.js";

/** What a call of an operation is answered with. */
export interface RanOperation {
  /** JSON text: a row, an array of rows, or `null` if no step returns anything. */
  readonly json: string;
  /** How many rows are in the answer. */
  readonly rowsReturned: number;
  /** Whether the answer is that of an earlier request with the same `Idempotency-Key`, which has done the operation. */
  readonly isReplayed: boolean;
}

/**
 * Runs an operation in one transaction. That takes one round trip, and another one if an earlier answer is repeated, or
 * if the answer is stored for a repetition after the transaction. If it returns a refusal, nothing was done. `isShort`:
 * no step walks over rows, so the operation is quick even in large tables.
 */
export async function runOperation(
  run: RunOf,
  isShort: boolean,
  execution: WriteExecution,
  kept: KeptRequest | null,
): Promise<RanOperation | Refusal> {
  const { operation } = run;
  try {
    const answer = onlyReads(operation)
      ? await runReading(run, isShort, execution)
      : await runWriting(run, isShort, execution, kept);
    return isRefusal(answer) ? answer : await finished(answer, operation);
  } catch (error) {
    const refusal = stepErrorRefusal(error);
    if (refusal === null) throw error;
    execution.tally.add(null);
    return refusal;
  }
}

interface OperationAnswer {
  /** JSON text in which reals and blobs do not have their final form yet (`finishRows`). */
  readonly json: string;
  readonly isReplayed: boolean;
}

async function finished({ json, isReplayed }: OperationAnswer, { steps }: NamedOperation): Promise<RanOperation> {
  const returning = steps.find(({ returns }) => returns !== null);
  if (returning === undefined || json === nothing) return { json, rowsReturned: 0, isReplayed };
  const rowsReturned = returning.returns === "one" ? 1 : (JSON.parse(json) as unknown[]).length;
  return { json: await finishRows(json, returning.columns), rowsReturned, isReplayed };
}

const nothing = "null";
/**
 * The answer of some operations cannot be kept for a repetition in their own transaction, and is stored after it. A
 * repetition that does not find it within this many milliseconds of the first request is refused. After that the answer
 * is taken for lost, and a repetition is answered with null.
 */
const answeredMs = 10_000;
const notAnswered = new Refusal("unavailable", "the first request with this key has not been answered yet", {
  headers: { "Retry-After": "1" },
});

async function runReading(run: RunOf, isShort: boolean, execution: WriteExecution): Promise<OperationAnswer | Refusal> {
  const { statement, isShort: isRuleShort, read: answerOf } = readingRun(run);
  const [result] = await read(execution, [statement], isShort && isRuleShort ? "short" : "long");
  // How many rows the owner's SQL reads is not known.
  execution.tally.add(null);
  const answer = answerOf(result!);
  return "json" in answer ? { json: answer.json, isReplayed: false } : refusalOf(run.operation, answer.reason);
}

async function runWriting(
  run: RunOf,
  isShort: boolean,
  execution: WriteExecution,
  kept: KeptRequest | null,
): Promise<OperationAnswer | Refusal> {
  const { database, tally } = execution;
  const nonce = toHex(execution.random.bytes(nonceBytes));
  const batch = writingRun(run, execution, nonce, kept);
  const long = longWorkOf(execution, isShort && batch.isShort ? "short" : "long");
  // Only a guard of this run knows the nonce: no text of the owner's or of a caller's can hold it.
  const stopped = (error: unknown): AbortError => {
    if (error instanceof AbortError && error.nonce === nonce) return error;
    throw error;
  };
  const results = await tally.during<readonly Result[] | AbortError>(
    database.batch(batch.statements, long).catch(stopped),
  );
  if (results instanceof AbortError) {
    if (kept !== null && results.reason === "kept") return replay(kept, execution);
    tally.add(null);
    return refusalOf(run.operation, results.reason);
  }
  const { json, rowsWritten } = batch.read(results);
  tally.add(null, rowsWritten);
  if (kept !== null && !batch.isKept && json !== nothing) await database.batch([replaceKept(kept, json)]);
  return { json, isReplayed: false };
}

async function replay(kept: KeptRequest, execution: WriteExecution): Promise<OperationAnswer | Refusal> {
  const [found] = await read(execution, [keptAnswer(kept)], "short");
  execution.tally.add(0);
  const [hash, at, json] = found!.rows[0]!;
  if (hash !== kept.hash) return mismatch;
  if (json !== "") return { json: json as string, isReplayed: true };
  return kept.nowMs - (at as number) < answeredMs ? notAnswered : { json: nothing, isReplayed: true };
}
