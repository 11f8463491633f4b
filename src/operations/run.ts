import { toHex } from "../encoding/hex.js";
import { isRefusal, type Refusal } from "../http/refusal.js";
import { nonceBytes } from "../platform/abort.js";
import { AbortError, type Result } from "../platform/database.js";
import { longWorkOf, read, type WriteExecution } from "../tables/execution.js";
import { finishRows } from "../tables/sql/finish-rows.js";
import { onlyReads, type RunOf, readingRun, writingRun } from "./statements.js";
import { refusalOf, refusalOfError } from "./step-refusal.js";

/** What an operation answers with. */
export interface RanOperation {
  /** JSON text: a row, an array of rows, or `null` where no step returns anything. */
  readonly json: string;
  /** How many rows are in it. */
  readonly rowsReturned: number;
}

/**
 * Runs an operation in one transaction and one round trip, or refuses it and has done nothing. `isShort`: no step walks over
 * rows.
 */
export async function runOperation(
  run: RunOf,
  isShort: boolean,
  execution: WriteExecution,
): Promise<RanOperation | Refusal> {
  const { operation } = run;
  const returning = operation.steps.find(({ returns }) => returns !== null);
  try {
    const json = onlyReads(operation)
      ? await readOnce(run, isShort, execution)
      : await writeOnce(run, isShort, execution);
    if (isRefusal(json) || returning === undefined) return isRefusal(json) ? json : { json, rowsReturned: 0 };
    const rowsReturned = returning.returns === "one" ? 1 : (JSON.parse(json) as unknown[]).length;
    return { json: finishRows(json, returning.columns), rowsReturned };
  } catch (error) {
    const refusal = refusalOfError(error);
    if (refusal === null) throw error;
    execution.tally.add(null);
    return refusal;
  }
}

async function readOnce(run: RunOf, isShort: boolean, execution: WriteExecution): Promise<string | Refusal> {
  const { statement, isShort: isRuleShort, read: answerOf } = readingRun(run);
  const [result] = await read(execution, [statement], isShort && isRuleShort ? "short" : "long");
  // How many rows the owner's SQL reads is not known.
  execution.tally.add(null);
  const answer = answerOf(result!);
  return "json" in answer ? answer.json : refusalOf(run.operation, answer.reason);
}

/** Sends the batch of an operation that writes. This is the one place where it is sent. */
async function writeOnce(run: RunOf, isShort: boolean, execution: WriteExecution): Promise<string | Refusal> {
  const { database, tally } = execution;
  const nonce = toHex(execution.random.bytes(nonceBytes));
  const batch = writingRun(run, execution, nonce);
  const long = longWorkOf(execution, isShort && batch.isShort ? "short" : "long");
  // Only a guard of this run knows its nonce, which no text of the owner's or of a caller's can hold.
  const refused = (error: unknown): Refusal => {
    if (error instanceof AbortError && error.nonce === nonce) return refusalOf(run.operation, error.reason);
    throw error;
  };
  const results = await tally.during<readonly Result[] | Refusal>(
    database.batch(batch.statements, long).catch(refused),
  );
  if (isRefusal(results)) {
    tally.add(null);
    return results;
  }
  const { json, rowsWritten } = batch.read(results);
  tally.add(null, rowsWritten);
  return json;
}
