import type { Tally } from "../metering/tally.js";
import type { Result, Statement, Statements } from "../platform/database.js";
import { bindCounted, type Counted, type PlanChecks } from "./plan-check.js";
import { bindSingle, type SlotValues, type Sql } from "./sql/fragment.js";

/** What it takes to run the statements of one request and to count the rows that they read and write. */
export interface Execution {
  readonly database: Statements;
  readonly tally: Tally;
  readonly plans: Pick<PlanChecks, "questionOf">;
  /** The values of `auth.id`, `auth.email` and `now()` for this request. */
  readonly values: SlotValues;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
}

/** Runs statements that only read, in one round trip. If that fails, the tally's counts become unknown. */
export function read({ database, tally }: Execution, statements: readonly Statement[]) {
  return tally.during(database.query(statements));
}

/**
 * Runs a SELECT that returns at most one row, in one round trip with a question for its query plan where that is due.
 * `isExact` says whether the number of rows that it examined is known.
 */
export async function readCounted(
  execution: Execution,
  counted: Counted<Sql>,
  values: readonly SlotValues[],
): Promise<{ readonly result: Result; readonly isExact: boolean }> {
  const bound = bindCounted(counted, values, bindSingle);
  const question = execution.plans.questionOf(bound, execution.nowMs);
  const results = await read(execution, [bound.statement, ...question.statements]);
  return { result: results[0]!, isExact: question.isExact(results) };
}
