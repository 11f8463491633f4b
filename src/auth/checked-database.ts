import { abortText } from "../platform/abort.js";
import {
  AbortError,
  CallRefusedError,
  ConstraintError,
  type LongWork,
  type Result,
  type ResultValue,
  type Statement,
  StatementError,
  type Statements,
} from "../platform/database.js";
import type { CheckedRow } from "./authenticate.js";
import { insist, valuesMax, withCheck, withValues } from "./store/checks.js";

/**
 * Thrown where the check of the caller found another caller or another schema version than expected; `found` is the row
 * that the check returned. Nothing was written.
 */
export class UnexpectedRowError extends CallRefusedError {
  override readonly name = "UnexpectedRowError";
  constructor(readonly found: CheckedRow) {
    super("the check of the caller returned another row than was expected");
  }
}

/**
 * The database for one request whose caller has not been checked yet. Its first call sends the check along with the
 * statements and throws UnexpectedRowError where the check returns another row than expected. A write is committed
 * only if the check holds in the same transaction.
 */
export class CheckedDatabase implements Statements {
  readonly #database: Statements;
  readonly #check: Statement;
  readonly #expected: CheckedRow;
  #confirmed = false;

  constructor(database: Statements, check: Statement, expected: CheckedRow) {
    this.#database = database;
    this.#check = check;
    this.#expected = expected;
  }

  get runsBeside(): boolean {
    return this.#database.runsBeside ?? false;
  }

  async query(statements: readonly Statement[], long?: LongWork): Promise<readonly Result[]> {
    if (this.#confirmed) return this.#database.query(statements, long);
    const [only] = statements;
    const isJoined = statements.length === 1 && only!.single !== undefined;
    const sent = isJoined ? [withCheck(this.#check, only!)] : [this.#check, ...statements];
    try {
      const results = await this.#database.query(sent, long);
      const first = results[0]!;
      this.#compare(first.rows[0]!);
      return isJoined ? [withoutCheck(first, this.#expected.length)] : results.slice(1);
    } catch (error) {
      return this.#orAsk(error);
    }
  }

  async batch(statements: readonly Statement[], long?: LongWork): Promise<readonly Result[]> {
    if (this.#confirmed) return this.#database.batch(statements, long);
    const holds = insist(this.#check, this.#expected);
    const values = valuesBefore(statements);
    try {
      const sent = [
        values.length === 0 ? holds : withValues(holds, values),
        ...statements.slice(values.length),
      ];
      const [first, ...results] = await this.#database.batch(sent, long);
      this.#confirmed = true;
      return [...first!.rows[0]!.slice(1).map(resultOfValue), ...results];
    } catch (error) {
      // The error is thrown on if a joined statement itself has raised it: SQLite may evaluate such a statement before
      // the check, so its guard says nothing of the caller.
      if (values.some((value) => isAbortOf(value, error))) throw error;
      return this.#orAsk(error);
    }
  }

  get confirmed(): boolean {
    return this.#confirmed;
  }

  /** Checks the caller alone, for a request that was answered without asking the database anything. */
  async confirm(): Promise<void> {
    const [result] = await this.#database.query([this.#check]);
    this.#compare(result!.rows[0]!);
  }

  /** Throws UnexpectedRowError unless `row` begins with the expected row of the check. */
  #compare(row: Result["rows"][number]): void {
    if (this.#expected.some((value, i) => value !== row[i]))
      throw new UnexpectedRowError(row.slice(0, this.#expected.length));
    this.#confirmed = true;
  }

  /**
   * Runs the check alone after a failed statement: the statement may have been made for a schema that is no longer in
   * force, and a check that does not hold inside a batch also fails as a StatementError. After any other error it is
   * unknown whether the batch was carried out, so it is not run again.
   */
  async #orAsk(error: unknown): Promise<never> {
    // A guard of the request's own statements comes after the check in the same transaction, so if it fails, the check
    // has passed.
    if (error instanceof AbortError) this.#confirmed = true;
    else if (error instanceof StatementError) await this.confirm();
    // A constraint is violated only after the caller was checked in the same transaction, so the caller's check has
    // passed.
    if (error instanceof ConstraintError) this.#confirmed = true;
    throw error;
  }
}

/** The statements at the beginning of a batch that can be joined with the check of the caller into one. */
function valuesBefore(statements: readonly Statement[]): readonly Statement[] {
  const end = statements.findIndex(({ single }, i) => single !== "value" || i === valuesMax);
  return end === -1 ? statements : statements.slice(0, end);
}

/** The result of a statement that `withValues` has joined with others, from the value of its column. */
function resultOfValue(value: ResultValue): Result {
  return { rows: value === null ? [] : [[value]], rowsWritten: 0 };
}

/** Whether a failed batch was undone by this statement. */
function isAbortOf({ params }: Statement, error: unknown): boolean {
  return error instanceof AbortError && params.includes(abortText(error.nonce, error.reason));
}

/**
 * The result of a statement that `withCheck` has joined with a check: without the check's columns, which are the first
 * `checkLength`. The statement's first column is never NULL, so NULL there means that the statement returned no row.
 */
function withoutCheck({ rows: [row], rowsWritten }: Result, checkLength: number): Result {
  const isThere = row![checkLength] !== null;
  return { rows: isThere ? [row!.slice(checkLength)] : [], rowsWritten };
}
