import {
  CallRefusedError,
  ConstraintError,
  type Database,
  type Result,
  type Statement,
  StatementError,
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

export interface CheckedDatabase extends Database {
  /** For a request that has not come to ask the database anything. */
  confirm(): Promise<void>;
}

function withoutCheck({ rows, rowsWritten }: Result, checkLength: number): Result {
  const there = rows.filter((row) => row[checkLength] !== null);
  return { rows: there.map((row) => row.slice(checkLength + 1)), rowsWritten };
}

/**
 * The database for one request whose caller is known from the credential alone: the first call takes the check along
 * and throws UnexpectedRowError where it returns another row. A write happens only if the check holds at that moment.
 */
export function checkedDatabase(database: Database, check: Statement, expected: CheckedRow): CheckedDatabase {
  let confirmed = false;
  const compare = (found: CheckedRow): void => {
    if (found.some((value, i) => value !== expected[i])) throw new UnexpectedRowError(found);
    confirmed = true;
  };
  const ask = async (): Promise<void> => {
    const [result] = await database.query([check]);
    compare(result!.rows[0]!);
  };
  /**
   * A statement made for another schema than the one in force may be none at all, and the check itself fails as one. Of any
   * other error it is not known whether the batch was carried out, and it is not run again.
   */
  const orAsk = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof StatementError) await ask();
      // A constraint is checked behind the caller.
      if (error instanceof ConstraintError) confirmed = true;
      throw error;
    }
  };
  return {
    foreignKeysStayOn: database.foreignKeysStayOn,
    answerBytesMax: database.answerBytesMax,
    query: async (statements) => {
      if (confirmed) return database.query(statements);
      const [only] = statements;
      if (statements.length === 1 && only!.single) {
        const [joined] = await orAsk(() => database.query([withCheck(check, only!)]));
        compare(joined!.rows[0]!.slice(0, expected.length));
        return [withoutCheck(joined!, expected.length)];
      }
      const [checked, ...results] = await orAsk(() => database.query([check, ...statements]));
      compare(checked!.rows[0]!);
      return results;
    },
    batch: async (statements) => {
      if (confirmed) return database.batch(statements);
      const [, ...results] = await orAsk(() => database.batch([insist(check, expected), ...statements]));
      confirmed = true;
      return results;
    },
    migrate: async (statements) => {
      if (!confirmed) await ask();
      return database.migrate(statements);
    },
    close: () => database.close(),
    confirm: async () => {
      if (!confirmed) await ask();
    },
  };
}
