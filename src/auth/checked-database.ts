import {
  CallRefusedError,
  ConstraintError,
  type Result,
  type Statement,
  StatementError,
  type Statements,
} from "../platform/database.js";
import type { CheckedRow } from "./authenticate.js";
import { insist, withCheck } from "./store/checks.js";

/** Who calls, or the schema in force, is not what was expected. Nothing was written. */
export class UnexpectedRowError extends CallRefusedError {
  override readonly name = "UnexpectedRowError";
  constructor(readonly found: CheckedRow) {
    super("the check of the caller returned another row than was expected");
  }
}

/**
 * The database for one request whose caller is known from the credential alone: the first call takes the check along
 * and throws UnexpectedRowError where it returns another row. A write happens only if the check holds at that moment.
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

  async query(statements: readonly Statement[]): Promise<readonly Result[]> {
    if (this.#confirmed) return this.#database.query(statements);
    const [only] = statements;
    const isJoined = statements.length === 1 && only!.single === true;
    const sent = isJoined ? [withCheck(this.#check, only!)] : [this.#check, ...statements];
    try {
      const results = await this.#database.query(sent);
      const first = results[0]!;
      this.#compare(first.rows[0]!);
      return isJoined ? [withoutCheck(first, this.#expected.length)] : results.slice(1);
    } catch (error) {
      return this.#orAsk(error);
    }
  }

  async batch(statements: readonly Statement[]): Promise<readonly Result[]> {
    if (this.#confirmed) return this.#database.batch(statements);
    const holds = insist(this.#check, this.#expected);
    const [question, ...others] = statements;
    const isJoined = question?.single === true;
    try {
      const sent = isJoined ? [withCheck(holds, question), ...others] : [holds, ...statements];
      const [first, ...results] = await this.#database.batch(sent);
      this.#confirmed = true;
      return isJoined ? [withoutCheck(first!, 1), ...results] : results;
    } catch (error) {
      return this.#orAsk(error);
    }
  }

  get confirmed(): boolean {
    return this.#confirmed;
  }

  /** For a request that has not come to ask the database anything, and is not `confirmed`. */
  async confirm(): Promise<void> {
    const [result] = await this.#database.query([this.#check]);
    this.#compare(result!.rows[0]!);
  }

  /** Of a row that begins with that of the check. */
  #compare(row: Result["rows"][number]): void {
    if (this.#expected.some((value, i) => value !== row[i]))
      throw new UnexpectedRowError(row.slice(0, this.#expected.length));
    this.#confirmed = true;
  }

  /**
   * A statement made for another schema than the one in force may be none at all, and the check itself fails as one. Of any
   * other error it is not known whether the batch was carried out, and it is not run again.
   */
  async #orAsk(error: unknown): Promise<never> {
    if (error instanceof StatementError) await this.confirm();
    // A constraint is checked behind the caller.
    if (error instanceof ConstraintError) this.#confirmed = true;
    throw error;
  }
}

/** Of `withCheck`, a single row. */
function withoutCheck({ rows: [row], rowsWritten }: Result, checkLength: number): Result {
  const isThere = row![checkLength] !== null;
  return { rows: isThere ? [row!.slice(checkLength)] : [], rowsWritten };
}
