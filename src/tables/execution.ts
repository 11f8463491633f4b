import type { Tally } from "../metering/tally.js";
import type { Result, Statement, Statements } from "../platform/database.js";
import { bindCounted, type Counted, type PlanChecks } from "./plan-check.js";
import { bindSingle, type SlotValues, type Sql } from "./sql/fragment.js";

/** What carries the statements of one request out, and counts what they cost. */
export interface Execution {
  readonly database: Statements;
  readonly tally: Tally;
  readonly plans: Pick<PlanChecks, "questionOf">;
  /** Who calls, and when: `auth.id`, `auth.email`, `now()`. */
  readonly values: SlotValues;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
}

/** Runs statements that only read, in one round trip whose time the tally takes. */
export function read({ database, tally }: Execution, statements: readonly Statement[]) {
  return tally.during(database.query(statements));
}

/** Runs a SELECT of at most one row, and tells whether the number of rows that it examined is known. */
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
