import type { TransactionBy } from "../../changes/transactions.js";
import type { Refusal } from "../../http/refusal.js";
import type { MeteringMembers } from "../../metering/attempt.js";
import type { Tally } from "../../metering/tally.js";
import type { LongWork, Statement, Statements } from "../../platform/database.js";
import type { Random } from "../../platform/platform.js";
import { bindCounted, type Counted, type PlanChecks } from "../plan/plan-check.js";
import { bindSingle, type SlotValues, type Sql } from "../sql-text/fragment.js";

/** What is needed to run the statements of one request and to count the rows that they read and write. */
export interface Execution {
  readonly database: Statements;
  readonly tally: Tally;
  readonly plans: Pick<PlanChecks, "questionOf">;
  /** This request's values of `auth.id`, `auth.email`, `auth.email_verified` and `now()`, by these names. */
  readonly values: SlotValues;
  /** The time of the request in milliseconds since the epoch. */
  readonly nowMs: number;
  /**
   * Returns the caller for whom the database works, so that callers take turns, and how long the request may still
   * take. Called each time when a statement is sent.
   */
  readonly longWork: () => LongWork;
  /**
   * Takes room for an answer of so many bytes before it is read (`UnsentBytes`); a refusal where there is none. Missing
   * where answers are short.
   */
  readonly takeRoom?: (bytes: number) => Refusal | null;
}

/** What is needed to run the statements of a request that may write. */
export interface WriteExecution extends Execution {
  /** Returns what the log of changes records about a change: who made it, when, and by which metered request. */
  readonly changedBy: () => TransactionBy;
  readonly random: Random;
}

/**
 * Records the success of a request that reads, as `Attempt.succeed` does. `data` is the text of the rows in the answer.
 * A refusal where the answer is long and too many bytes wait to be sent already.
 */
export type Succeed = (status: number, rowsReturned: number, data: string) => Promise<MeteringMembers | Refusal>;

/**
 * How long a statement may be expected to take: `short` is some milliseconds, because it looks up few rows, however
 * large the tables are; `long` is of every other statement.
 */
export type Duration = "short" | "long";

/** Runs statements that only read, in one round trip. For a failure see `Tally.during`. */
export function read(execution: Execution, statements: readonly Statement[], duration: Duration) {
  const { database, tally } = execution;
  return tally.during(database.query(statements, longWorkOf(execution, duration)));
}

/**
 * Returns the caller and the deadline to pass to the database along with statements. Undefined for short statements
 * where the database runs work with a deadline in a thread of its own: they are done sooner outside of it.
 */
export function longWorkOf({ database, longWork }: Execution, duration: Duration): LongWork | undefined {
  return duration === "long" || !database.hasReadThread ? longWork() : undefined;
}

/**
 * Makes the statements to send, in one round trip, for a SELECT of at most one row whose examined rows are counted: with
 * an EXPLAIN QUERY PLAN where its plan has to be checked. `isExact` tells from the results whether the number is known.
 */
export function countedRead({ plans, nowMs }: Execution, counted: Counted<Sql>, values: readonly SlotValues[]) {
  const bound = bindCounted(counted, values, bindSingle);
  const question = plans.questionOf(bound, nowMs);
  return { statements: [bound.statement, ...question.statements], isExact: question.isExact };
}
