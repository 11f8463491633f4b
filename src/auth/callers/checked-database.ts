import { abortText } from "../../platform/abort.js";
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
} from "../../platform/database.js";
import { type CheckedRow, insist, valuesMax, withCheck, withValues } from "../store/checks.js";

/**
 * Thrown where the check of a request's caller found another caller or another schema version than was expected.
 * `found` is the row that the check returned. Nothing was written.
 */
export class UnexpectedRowError extends CallRefusedError {
  override readonly name = "UnexpectedRowError";
  constructor(readonly found: CheckedRow) {
    super("the check of the caller returned another row than was expected");
  }
}

/**
 * The database as a request uses it whose caller has not been checked yet. Until a call has confirmed the caller, each
 * call sends the check along with the request's statements, and throws UnexpectedRowError where the check returns
 * another row than expected; a write is then committed only if the check holds in the same transaction. Once the caller
 * is confirmed, calls are passed on without the check.
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

  get hasReadThread(): boolean {
    return this.#database.hasReadThread ?? false;
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
      // Also after an AbortError the check has passed only if its row is the expected one.
      return this.#orAsk(error);
    }
  }

  async batch(statements: readonly Statement[], long?: LongWork): Promise<readonly Result[]> {
    if (this.#confirmed) return this.#database.batch(statements, long);
    const holds = insist(this.#check, this.#expected);
    const values = valuesBefore(statements);
    try {
      const sent = [values.length === 0 ? holds : withValues(holds, values), ...statements.slice(values.length)];
      const [first, ...results] = await this.#database.batch(sent, long);
      this.#confirmed = true;
      return [...first!.rows[0]!.slice(1).map(resultOfValue), ...results];
    } catch (error) {
      // If a statement that was joined with the check has failed on purpose to undo the batch, the error is thrown on
      // without counting the caller as checked: SQLite may have evaluated that statement before the check.
      if (values.some((value) => isAbortOf(value, error))) throw error;
      // Any other AbortError comes from one of the request's own statements, which has undone the batch on purpose. It
      // ran after the check of the caller in the same transaction, so that check has passed.
      if (error instanceof AbortError) {
        this.#confirmed = true;
        throw error;
      }
      return this.#orAsk(error);
    }
  }

  get confirmed(): boolean {
    return this.#confirmed;
  }

  /** Checks the caller with a round trip of its own, for a request that was answered before its caller was checked. */
  async confirm(): Promise<void> {
    const [result] = await this.#database.query([this.#check]);
    this.#compare(result!.rows[0]!);
  }

  /**
   * Compares what the check has returned with what was expected: throws UnexpectedRowError unless `row` begins with the
   * expected row.
   */
  #compare(row: Result["rows"][number]): void {
    if (this.#expected.some((value, i) => value !== row[i]))
      throw new UnexpectedRowError(row.slice(0, this.#expected.length));
    this.#confirmed = true;
  }

  /**
   * After a failed statement, runs the check of the caller alone and throws UnexpectedRowError if it finds another row
   * than expected. That may be why the statement failed: it was made for a schema that is no longer in force, or the
   * check did not hold inside the batch. Otherwise the statement's own error is thrown. After other errors it is
   * unknown whether the batch was carried out, so the check is not run.
   */
  async #orAsk(error: unknown): Promise<never> {
    if (error instanceof StatementError) await this.confirm();
    // A constraint is violated only after the caller was checked in the same transaction, so the caller's check has
    // passed.
    if (error instanceof ConstraintError) this.#confirmed = true;
    throw error;
  }
}

/**
 * The statements at the beginning of a batch, `valuesMax` at most, that are marked `single: "value"`. They can be
 * joined into one statement with the check of the caller.
 */
function valuesBefore(statements: readonly Statement[]): readonly Statement[] {
  const end = statements.findIndex(({ single }, i) => single !== "value" || i === valuesMax);
  return end === -1 ? statements : statements.slice(0, end);
}

/**
 * The result of a statement that `withValues` has joined with others, from the value in its column: one row with that
 * value, or no row for NULL.
 */
function resultOfValue(value: ResultValue): Result {
  return { rows: value === null ? [] : [[value]], rowsWritten: 0 };
}

/** Whether the error says that this statement has undone its batch on purpose (`abortText`). */
function isAbortOf({ params }: Statement, error: unknown): boolean {
  return error instanceof AbortError && params.includes(abortText(error.nonce, error.reason));
}

/**
 * Takes out of a joined result what belongs to the statement that `withCheck` has joined with a check: all columns but
 * the first `checkLength`, which are the check's. The first column of that statement is never NULL, so NULL there means
 * that it returned no row.
 */
function withoutCheck({ rows: [row], rowsWritten }: Result, checkLength: number): Result {
  const isThere = row![checkLength] !== null;
  return { rows: isThere ? [row!.slice(checkLength)] : [], rowsWritten };
}
