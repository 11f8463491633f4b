import type { Tally } from "../metering/tally.js";
import type { LongWork, Result, Statement, Statements } from "../platform/database.js";
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
  /** What the request may take from now on. */
  readonly longWork: () => LongWork;
}

/**
 * How long statements may take. `short`: some milliseconds, because they look up few rows, whatever the tables hold.
 */
export type Duration = "short" | "long";

/** Runs statements that only read, in one round trip. If that fails, the tally's counts become unknown. */
export function read(execution: Execution, statements: readonly Statement[], duration: Duration) {
  const { database, tally } = execution;
  return tally.during(database.query(statements, longWorkOf(execution, duration)));
}

/**
 * The deadline to pass to the database along with statements. Undefined for short ones where long work runs beside,
 * because a deadline would send them there, and they are done sooner here.
 */
export function longWorkOf({ database, longWork }: Execution, duration: Duration): LongWork | undefined {
  return duration === "long" || !database.runsBeside ? longWork() : undefined;
}

/** A SELECT that returns at most one row, with a question for its query plan where that is due. */
export interface CountedRead {
  /** For one round trip. */
  readonly statements: readonly Statement[];
  /** Whether the number of rows that the SELECT examined is known. `results` are those of `statements`. */
  readonly isExact: (results: readonly Result[]) => boolean;
}

/** What to send for a statement that reports what it examined. */
export function countedRead(
  { plans, nowMs }: Execution,
  counted: Counted<Sql>,
  values: readonly SlotValues[],
): CountedRead {
  const bound = bindCounted(counted, values, bindSingle);
  const question = plans.questionOf(bound, nowMs);
  return { statements: [bound.statement, ...question.statements], isExact: question.isExact };
}
