import { toHex } from "../encoding/hex.js";
import { isRefusal, Refusal } from "../http/refusal.js";
import { nonceBytes } from "../platform/abort.js";
import { AbortError, type Result } from "../platform/database.js";
import type { NamedOperation } from "../project/model.js";
import { longWorkOf, read, type WriteExecution } from "../tables/execution.js";
import { finishRows } from "../tables/sql/finish-rows.js";
import { type KeptRequest, keptAnswer, replaceKept } from "../tables/sql/kept-answers.js";
import { mismatch } from "../tables/together/idempotency.js";
import { onlyReads, type RunOf, readingRun, writingRun } from "./statements.js";
import { refusalOf, stepErrorRefusal } from "./step-refusal.js";

/** What an operation answers with. */
export interface RanOperation {
  /** The answer as JSON text: a row, an array of rows, or `null` where no step returns anything. */
  readonly json: string;
  /** How many rows are in the answer. */
  readonly rowsReturned: number;
  /** Whether the operation was done before, by a request with the same `Idempotency-Key`. */
  readonly isReplayed: boolean;
}

/**
 * Runs an operation in one transaction and one round trip, or refuses it and has done nothing. `isShort`: no step walks
 * over rows, so that it is quick.
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
      ? await readOnce(run, isShort, execution)
      : await writeOnce(run, isShort, execution, kept);
    return isRefusal(answer) ? answer : finished(answer, operation);
  } catch (error) {
    const refusal = stepErrorRefusal(error);
    if (refusal === null) throw error;
    execution.tally.add(null);
    return refusal;
  }
}

/** The answer of an operation as the database has given it. */
interface Answer {
  /** JSON text in which reals and blobs do not have their final form yet (`finishRows`). */
  readonly json: string;
  readonly isReplayed: boolean;
}

function finished({ json, isReplayed }: Answer, { steps }: NamedOperation): RanOperation {
  const returning = steps.find(({ returns }) => returns !== null);
  if (returning === undefined || json === nothing) return { json, rowsReturned: 0, isReplayed };
  const rowsReturned = returning.returns === "one" ? 1 : (JSON.parse(json) as unknown[]).length;
  return { json: finishRows(json, returning.columns), rowsReturned, isReplayed };
}

const nothing = "null";
/**
 * An answer that could not be kept in the operation's own transaction is added after it. After how many milliseconds it
 * is taken for lost, if it is not there yet.
 */
const answeredMs = 10_000;
const notAnswered = new Refusal("unavailable", "the first request with this key has not been answered yet", {
  headers: { "Retry-After": "1" },
});

async function readOnce(run: RunOf, isShort: boolean, execution: WriteExecution): Promise<Answer | Refusal> {
  const { statement, isShort: isRuleShort, read: answerOf } = readingRun(run);
  const [result] = await read(execution, [statement], isShort && isRuleShort ? "short" : "long");
  // How many rows the owner's SQL reads is not known, so the count becomes unknown.
  execution.tally.add(null);
  const answer = answerOf(result!);
  return "json" in answer
    ? { json: answer.json, isReplayed: false }
    : refusalOf(run.operation, answer.reason);
}

/** Sends the batch of an operation that writes. Only this function sends it. */
async function writeOnce(
  run: RunOf,
  isShort: boolean,
  execution: WriteExecution,
  kept: KeptRequest | null,
): Promise<Answer | Refusal> {
  const { database, tally } = execution;
  const nonce = toHex(execution.random.bytes(nonceBytes));
  const batch = writingRun(run, execution, nonce, kept);
  const long = longWorkOf(execution, isShort && batch.isShort ? "short" : "long");
  // Takes the error of a guard of this run for a result. Only such a guard knows the nonce, which no text of the
  // owner's or of a caller's can hold.
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

async function replay(kept: KeptRequest, execution: WriteExecution): Promise<Answer | Refusal> {
  const [found] = await read(execution, [keptAnswer(kept)], "short");
  execution.tally.add(0);
  const [hash, at, json] = found!.rows[0]!;
  if (hash !== kept.hash) return mismatch;
  if (json !== "") return { json: json as string, isReplayed: true };
  return kept.nowMs - (at as number) < answeredMs ? notAnswered : { json: nothing, isReplayed: true };
}
