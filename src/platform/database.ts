/**
 * The database as all portable code sees it: an embedded file, D1 and a remote libSQL server all implement this
 * interface. It offers only what D1 can do too. Each adapter hides how its backend differs
 * (`docs/reference/backends.md`).
 */
export interface Database {
  /** Whether foreign keys stay enforced during `migrate`, as on D1, which can only defer them. See `migrate`. */
  readonly foreignKeysStayOn: boolean;

  /**
   * How many bytes of stored text and blobs one result may hold. The backend's own limit is higher, because escaping
   * as JSON can make a text up to six times as long.
   */
  readonly answerBytesMax: number;

  /**
   * How many bytes the image of a row, the JSON that the log of changes holds of it, may have, so that the row can
   * still be changed and deleted; null where the backend takes larger ones than requests can make.
   */
  readonly imageBytesMax: number | null;

  /** How many statements one batch may have; null where the backend sets no bound. */
  readonly statementsMax: number | null;

  /**
   * Set where work that is passed with `long` runs beside everything else, and other work blocks the event loop. What
   * is short should then be passed without `long`, which is faster.
   */
  readonly runsBeside?: boolean;

  /**
   * Runs statements that only read, in one round trip. Each sees a committed state, but two of them need not see the
   * same one. With `long` they end at its deadline. Throws UnavailableError or StatementError.
   */
  query(statements: readonly Statement[], long?: LongWork): Promise<readonly Result[]>;

  /**
   * Runs statements in order in one transaction and one round trip: all take effect or none. With `long` they end at
   * its deadline, unless the COMMIT has begun by then. Throws ConstraintError, UnavailableError or StatementError.
   */
  batch(statements: readonly Statement[], long?: LongWork): Promise<readonly Result[]>;

  /**
   * Runs the statements of a schema change like `batch`, but foreign keys are not enforced meanwhile, so that
   * dropping a table fires no `ON DELETE` action (SQLite, "Making Other Kinds Of Table Schema Changes"). All foreign
   * keys are checked before the commit: a violation that was not there before throws ConstraintError `foreign_key`
   * and changes nothing. With `foreignKeysStayOn`, `ON DELETE` actions do fire, so the statements have to restore
   * what those deleted. `long` as for `batch`.
   */
  migrate(statements: readonly Statement[], long?: LongWork): Promise<void>;

  /** Finishes what was begun, and releases the connection. */
  close(): Promise<void>;
}

/** The part of a database that requests use: no schema changes, and no closing. */
export type Statements = Pick<Database, "query" | "batch" | "runsBeside">;

/** For whom work is done that may take long, and how long it may take (`docs/reference/limits.md#long-work`). */
export interface LongWork {
  /** For whom the work is done. Where the work of many waits, they take turns. */
  readonly principal: string;
  /** Whether the principal is an API key. */
  readonly isKey: boolean;
  /** How long the work may take, in milliseconds from the call on. Waiting counts. */
  readonly withinMs: number;
}

/**
 * SQL text with positional `?` placeholders, and a parameter for each. The text never contains a string that a caller
 * sent. The columns of a result need distinct names that do not read as numbers, because D1 returns rows as
 * JavaScript objects, which would merge or reorder them.
 */
export interface Statement {
  readonly sql: string;
  readonly params: readonly SqlValue[];
  /**
   * Marks a SELECT of at most one row whose first column is never NULL: `row`, or `value` where it has no other column.
   * Such a statement can be joined with others into a single statement: NULL in its first column then means that it
   * found no row.
   */
  readonly single?: "row" | "value";
}

/** A statement, with a parameter for each `?` of its text. */
export function statement(sql: string, ...params: SqlValue[]): Statement {
  return { sql, params };
}

/**
 * null binds as NULL, a bigint of 64 bits as INTEGER, a finite number as REAL, a well-formed string without NUL
 * characters as TEXT, bytes as BLOB. Any other value is refused.
 */
export type SqlValue = null | bigint | number | string | Uint8Array;

/** What one statement returned. */
export interface Result {
  /**
   * Values in the order of the SELECT or RETURNING list. INTEGER and REAL both come back as number, so a statement
   * has to cast integers that may exceed ±(2^53−1) to text.
   */
  readonly rows: readonly (readonly ResultValue[])[];
  /** Rows that this statement inserted, updated and deleted, including those of triggers and foreign key actions. */
  readonly rowsWritten: number;
}

/** A value of a result. BLOBs come back as bytes. */
export type ResultValue = null | number | string | Uint8Array;

/**
 * Which kind of constraint a statement broke. `datatype` is a value of a type that a STRICT table or an INTEGER
 * PRIMARY KEY refuses; `trigger` is a trigger's RAISE, or a constraint of a virtual table.
 */
export type ConstraintKind =
  | "not_null"
  | "check"
  | "datatype"
  | "trigger"
  /** Kind `unique`: two rows would have the same values in a UNIQUE constraint, a unique index or the primary key. */
  | "unique"
  | "foreign_key";

/** A statement broke a constraint of the schema; nothing of its batch was kept. */
export class ConstraintError extends Error {
  override readonly name = "ConstraintError";
  constructor(
    readonly kind: ConstraintKind,
    message: string,
    /**
     * What the constraint says: for a CHECK, its name or else its expression; for a trigger, the text of its RAISE.
     * Null where it is not known.
     */
    readonly detail: string | null = null,
  ) {
    super(message);
  }
}

/** Makes a ConstraintError from SQLite's message, taking its `detail` out of the message. */
export function constraintError(kind: ConstraintKind, message: string): ConstraintError {
  if (kind === "trigger") return triggerError(message);
  return kind === "check" ? checkError(message) : new ConstraintError(kind, message);
}

/**
 * The error for a broken CHECK. SQLite's message quotes the CHECK's expression, which moves to `detail` and stays out
 * of the error's message.
 */
function checkError(message: string): ConstraintError {
  const [short = message, detail = null] =
    /^(CHECK constraint failed): ([\s\S]*)$/.exec(message)?.slice(1) ?? [];
  return new ConstraintError("check", short, detail);
}

/**
 * The error for a trigger's RAISE, whose text becomes `detail`, or for a constraint of a virtual table, which has no
 * text.
 */
function triggerError(message: string): ConstraintError {
  const hasText = message !== "" && message !== "constraint failed";
  return new ConstraintError("trigger", message, hasText ? message : null);
}

/**
 * The storage cannot answer now: it is locked, read-only, full, unreachable or not set up. Nothing of the batch was
 * kept, unless the answer of a remote backend was lost: then that is unknown.
 */
export class UnavailableError extends Error {
  override readonly name = "UnavailableError";
}

/** Long work (a call with a deadline) has not ended by its deadline. Nothing of it was kept. */
export class DeadlineError extends UnavailableError {}

/** Long work was refused before it began, because so much of it waits already or has kept others waiting. */
export class QueueFullError extends UnavailableError {
  /** `retryAfterMs` is after how many milliseconds it is worth trying again. */
  constructor(
    message: string,
    readonly retryAfterMs = 5_000,
  ) {
    super(message);
  }
}

/**
 * A remote backend was sent a batch, and its answer was lost: whether the batch was carried out is not known.
 */
export class OutcomeUnknownError extends UnavailableError {}

/**
 * The database cannot execute the statement as written, for example because the schema has changed since it was made.
 * Nothing of the batch was kept.
 */
export class StatementError extends Error {
  override readonly name = "StatementError";
}

/**
 * A statement undid its batch on purpose (`platform/abort.ts`). Nothing of the batch was kept. The request's own
 * statement has done so only where `nonce` is that of the request; with any other nonce the error is to be taken for a
 * StatementError.
 */
export class AbortError extends StatementError {
  constructor(
    readonly nonce: string,
    readonly reason: string,
  ) {
    super("a guard of the batch does not hold");
  }
}

/**
 * Thrown by a wrapper around a database, such as CheckedDatabase where the caller's session has ended. The call has
 * changed nothing, its results are discarded, and metering does not count it.
 */
export class CallRefusedError extends Error {}

/** The server's own tables (`docs/reference/schema.md#the-servers-own-tables`) do not exist in this database yet. */
export class NotSetUpError extends UnavailableError {}
