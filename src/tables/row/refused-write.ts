import { badRequest, Refusal } from "../../http/refusal.js";
import {
  ConstraintError,
  MemoryError,
  type Statement,
  StatementError,
  type Statements,
} from "../../platform/database.js";
import type { WriteExecution } from "../execution/execution.js";
import { isTooLargeImage } from "../sql/row.js";
import { bind } from "../sql-text/fragment.js";
import { constraintRefusal } from "./constraint-refusal.js";
import { withManaged } from "./managed-values.js";
import { type RowWrite, tooLargeImage } from "./row-write.js";
import { triggersOf } from "./sent-write.js";

/**
 * Turns the database's error for a write into a refusal: for a violated constraint, a row that is too large, too long a
 * chain of changes, or SQL of the project's owner that cannot be evaluated. Null where the error is no fault of the
 * request.
 */
export async function refusalOfError(
  error: unknown,
  write: RowWrite,
  execution: WriteExecution,
): Promise<Refusal | null> {
  const { database, values } = execution;
  const { kind, access, statement, sent } = write;
  const { table, catalog, readable } = access;
  const physical = catalog.tables.get(table.name)!;
  if (error instanceof ConstraintError) {
    // The violated reference may be in a column that the server sets by itself, such as the caller's id, so these
    // values count too.
    const managed = access.managed.filter((column) => !access.callerOrNull.has(column));
    const written = kind === "delete" ? sent : withManaged(kind, managed, sent, execution);
    return constraintRefusal(error, { kind, table, physical, written, readable });
  }
  if (error instanceof MemoryError) return triggersOf(write).run ? tooLargeValue : null;
  if (!(error instanceof StatementError)) return null;
  if (error.message.includes("too many levels of trigger recursion")) return tooLongAChain;
  if (isTooLargeImage(error.message)) return table.historyDays === null ? tooLargeRow : tooLargeImage;
  const bound = bind(statement.statement, [values, ...write.values]);
  return physical.hasOwnersSql && (await isSound(database, bound)) ? notEvaluated : null;
}

/**
 * The refusal of a write that leads to too long a chain of other changes, each by the one before. SQLite counts foreign
 * key actions as triggers; how deep triggers may nest differs between backends.
 */
const tooLongAChain = badRequest(
  "this leads to too many changes of other rows, each by the one before, as references and triggers do: begin nearer to the end of the chain",
);

const tooLargeRow = new Refusal("payload_too_large", "a value, or the row, is larger than the database takes");

const tooLargeValue = badRequest("a trigger of the table makes a value that is too large");

const notEvaluated = badRequest(
  "SQL of the table, such as a check or a trigger, cannot be evaluated with these values",
);

/**
 * Whether SQLite can compile a statement that has failed. Then it failed because of its values, and only the owner's
 * SQL (a check, a default, a trigger) can fail because of values.
 */
async function isSound(database: Statements, { sql, params }: Statement): Promise<boolean> {
  try {
    await database.query([{ sql: `EXPLAIN ${sql}`, params }]);
    return true;
  } catch (error) {
    if (error instanceof StatementError) return false;
    throw error;
  }
}

/** The answer 400, where a trigger of the project's owner has prevented a write by `RAISE(IGNORE)`. */
export const ignored = badRequest("a trigger of the table ignores this");
