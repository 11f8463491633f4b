/**
 * The database as portable code sees it: an embedded file, D1 or a remote libSQL server. It offers only what D1 can do
 * too. Each adapter hides how its backend differs (`docs/reference/backends.md`).
 */
export interface Database {
  /** Whether foreign keys stay enforced during `migrate`, as on D1, which can only defer them. */
  readonly foreignKeysStayOn: boolean;

  /**
   * How many bytes of stored text and blobs one result may hold. The backend's own limit is higher, because escaping as
   * JSON can make a text up to six times as long.
   */
  readonly answerBytesMax: number;

  /**
   * How many bytes a row may have as JSON in the log of changes. A larger row could neither be changed nor deleted.
   * Null if the backend takes more than any request can make.
   */
  readonly imageBytesMax: number | null;

  /** How many statements one batch may have; null without a bound. */
  readonly statementsMax: number | null;

  /** How many arguments an SQL function may have; undefined for 32. */
  readonly functionArgumentsMax?: number | undefined;

  /**
   * Whether calls with `long` run in a thread, while calls without it block the event loop. Short work is faster
   * without `long`.
   */
  readonly hasReadThread?: boolean;

  /**
   * Runs statements that only read, in one round trip. Each statement sees a committed state of the database, but two
   * of them need not see the same state. With `long` they end at its deadline. Throws UnavailableError or
   * StatementError.
   */
  query(statements: readonly Statement[], long?: LongWork): Promise<readonly Result[]>;

  /**
   * Runs statements in order in one transaction and one round trip. With `long` they end at its deadline, unless the
   * COMMIT has begun by then. Throws ConstraintError, UnavailableError or StatementError.
   */
  batch(statements: readonly Statement[], long?: LongWork): Promise<readonly Result[]>;

  /**
   * Runs a schema change like `batch`, but foreign keys are not enforced meanwhile, so that dropping a table fires no
   * `ON DELETE` action (SQLite, "Making Other Kinds Of Table Schema Changes"). All foreign keys are checked before the
   * commit: a violation that was not there before throws ConstraintError `foreign_key` and changes nothing. With
   * `foreignKeysStayOn`, `ON DELETE` actions do fire, so the statements have to restore what those deleted.
   */
  migrate(statements: readonly Statement[], long?: LongWork): Promise<void>;

  /** Finishes what was begun, and releases the connection. */
  close(): Promise<void>;
}

/** What requests use: no schema changes, and no closing. */
export type Statements = Pick<Database, "query" | "batch" | "hasReadThread">;

/** For whom a call is made whose work may take long (`docs/reference/limits.md#long-work`). */
export interface LongWork {
  /** A user, an API key, or all who are not signed in. Waiting work of several principals takes turns. */
  readonly principal: string;
  /**
   * The part of the client's address that counts as one client (`addressUnit`), if requests of many callers may come
   * from there.
   */
  readonly address?: string;
  /** Whether the principal is an API key. */
  readonly isKey: boolean;
  /** In milliseconds from the call on, with the time in which the work waits for its turn. */
  readonly withinMs: number;
}

/**
 * SQL text with positional `?` placeholders, and a parameter for each. The text never contains a string that a caller
 * sent. The columns of a result need distinct names that do not read as numbers, because D1 returns rows as JavaScript
 * objects, which would merge or reorder them.
 */
export interface Statement {
  readonly sql: string;
  readonly params: readonly SqlValue[];
  /**
   * Marks a SELECT of at most one row whose first column is never NULL: `value` if that is the only column, else `row`.
   * Such a statement can be joined with others into one, in whose row a NULL in place of the first column says that the
   * SELECT found no row.
   */
  readonly single?: "row" | "value";
  /** A backend need not count the rows of this write; `rowsWritten` may be any number. */
  readonly uncounted?: true;
  /**
   * Makes, from the result of the statement right before this one in the batch, a quicker statement with the same
   * effect, or null if nothing needs to be run. Only backends that run the statements of a batch one by one have that
   * result in time, and use it.
   */
  readonly quicker?: (this: Statement, before: Result) => Statement | null;
}

/** Takes a parameter for each `?` in the text. */
export function statement(sql: string, ...params: SqlValue[]): Statement {
  return { sql, params };
}

/**
 * A parameter. null is bound as NULL, a bigint of 64 bits as INTEGER, a finite number as REAL, a well-formed string
 * without NUL characters as TEXT, bytes as BLOB. Any other value is refused.
 */
export type SqlValue = null | bigint | number | string | Uint8Array;

/** What one statement returned. */
export interface Result {
  /**
   * Values are in the order of the SELECT or RETURNING list. INTEGER and REAL both come back as number, so a statement
   * has to cast integers that may exceed ±(2^53−1) to text.
   */
  readonly rows: readonly (readonly ResultValue[])[];
  /** Rows inserted, updated and deleted, including those of triggers and foreign key actions. */
  readonly rowsWritten: number;
}

/** BLOBs come back as bytes. */
export type ResultValue = null | number | string | Uint8Array;

/**
 * The kind of a broken constraint. `datatype` is a value of a type that a STRICT table or an INTEGER PRIMARY KEY
 * refuses; `trigger` is a trigger's RAISE, or a constraint of a virtual table.
 */
export type ConstraintKind =
  | "not_null"
  | "check"
  | "datatype"
  | "trigger"
  /** Of a UNIQUE constraint, a unique index or the primary key. */
  | "unique"
  | "foreign_key";

/** A statement broke a constraint of the schema; nothing of its batch was kept. */
export class ConstraintError extends Error {
  override readonly name = "ConstraintError";
  constructor(
    readonly kind: ConstraintKind,
    message: string,
    /** For a CHECK, its name or else its expression; for a trigger, the text of its RAISE. Null if it is not known. */
    readonly detail: string | null = null,
  ) {
    super(message);
  }
}

/** Reads `detail` from SQLite's message for the kinds `check` and `trigger`; it is null for others. */
export function constraintError(kind: ConstraintKind, message: string): ConstraintError {
  if (kind === "trigger") return triggerError(message);
  return kind === "check" ? checkError(message) : new ConstraintError(kind, message);
}

/** SQLite's message quotes the CHECK's expression, which moves to `detail`. */
function checkError(message: string): ConstraintError {
  const [short = message, detail = null] = /^(CHECK constraint failed): ([\s\S]*)$/.exec(message)?.slice(1) ?? [];
  return new ConstraintError("check", short, detail);
}

/** The text of a trigger's RAISE becomes `detail`; a constraint of a virtual table has no text. */
function triggerError(message: string): ConstraintError {
  const hasText = message !== "" && message !== "constraint failed";
  return new ConstraintError("trigger", message, hasText ? message : null);
}

/**
 * The storage cannot answer now: it is locked, read-only, full, unreachable or not set up. Nothing of the batch was
 * kept, unless it is an OutcomeUnknownError.
 */
export class UnavailableError extends Error {
  override readonly name = "UnavailableError";
}

/** The database would have needed more memory than it may take. Nothing of the batch was kept. */
export class MemoryError extends UnavailableError {}

/** Long work has not ended by its deadline. Nothing of it was kept. */
export class DeadlineError extends UnavailableError {}

/**
 * Long work was refused before it began, because too much long work waits already, or because the last long write of
 * the same caller was interrupted at its deadline not long ago.
 */
export class QueueFullError extends UnavailableError {
  /** Another attempt may succeed after `retryAfterMs` milliseconds. */
  constructor(
    message: string,
    readonly retryAfterMs = 5_000,
  ) {
    super(message);
  }
}

/** The answer of a remote backend or of the thread for long work was lost: the batch was carried out or not. */
export class OutcomeUnknownError extends UnavailableError {}

/**
 * The database cannot execute the statement as written, for example because the schema has changed since it was made.
 * Nothing of the batch was kept.
 */
export class StatementError extends Error {
  override readonly name = "StatementError";
}

/**
 * A statement undid its batch on purpose (`platform/abort.ts`). Nothing of the batch was kept. An error whose `nonce`
 * is not that of the request is treated like any StatementError.
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
 * A wrapper around the database refused the call, such as CheckedDatabase after the caller's session has ended. The
 * call has changed nothing, its results are discarded, and metering does not count it.
 */
export class CallRefusedError extends Error {}

/** The server's own tables (`docs/reference/schema.md#the-servers-own-tables`) do not exist in this database yet. */
export class NotSetUpError extends UnavailableError {}
