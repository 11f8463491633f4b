/**
 * The one door to SQLite, the same for an embedded file, D1 and a remote libSQL server. What D1 can do,
 * every implementation can; where a backend differs, the difference ends in its adapter.
 */
export interface Database {
  /** Where foreign keys cannot be switched off (D1), `migrate` only defers them: see there. */
  readonly foreignKeysStayOn: boolean;

  /** How many bytes of stored values one result may hold, escaped as JSON (at most six times as many) as it may be. */
  readonly answerBytesMax: number;

  /**
   * Runs statements that only read, in one round trip. Each sees a committed state; two of them need not see
   * the same one.
   */
  query(statements: readonly Statement[]): Promise<readonly Result[]>;

  /** Runs statements in order, all or none of them, in one round trip. */
  batch(statements: readonly Statement[]): Promise<readonly Result[]>;

  /**
   * As `batch`, for changes of the schema: foreign keys are not enforced while it runs, so that dropping a table
   * fires no `ON DELETE` action, and every foreign key is checked before it commits (SQLite, "Making Other Kinds
   * Of Table Schema Changes"). A violation that was not there before throws ConstraintError `foreign_key` and
   * changes nothing. Where foreign keys stay on, their actions do fire, and the statements have to restore what those
   * took.
   */
  migrate(statements: readonly Statement[]): Promise<void>;

  close(): Promise<void>;
}

/** What a request may do with it. */
export type Statements = Pick<Database, "query" | "batch">;

/**
 * Text with positional `?` placeholders, and a parameter for each. Text never holds a caller's string. The columns of
 * what it returns have names of their own, none of which reads as a number: rows of D1 are objects.
 */
export interface Statement {
  readonly sql: string;
  readonly params: readonly SqlValue[];
  /** A SELECT of at most one row, whose first column is never NULL: it can be part of another one. */
  readonly single?: true;
}

/** A bigint binds as INTEGER, a number as REAL, a string as TEXT without NUL, bytes as BLOB. Nothing else binds. */
export type SqlValue = null | bigint | number | string | Uint8Array;

export interface Result {
  /** Values in the order of the SELECT or RETURNING list. INTEGER and REAL both come back as number: a statement
   * turns what may exceed ±(2^53−1) into text itself. */
  readonly rows: readonly (readonly ResultValue[])[];
  /** Rows inserted, updated and deleted by this statement, those of triggers and foreign key actions included. */
  readonly rowsWritten: number;
}

export type ResultValue = null | number | string | Uint8Array;

export type ConstraintKind =
  | "not_null"
  | "check"
  | "datatype"
  | "trigger"
  /** A primary key too. */
  | "unique"
  | "foreign_key";

/** A statement broke a constraint of the schema; nothing of its batch was kept. */
export class ConstraintError extends Error {
  override readonly name = "ConstraintError";
  constructor(
    readonly kind: ConstraintKind,
    message: string,
    /** A CHECK's name, or its expression where it has none; the text of a trigger's RAISE. Null where it is not known. */
    readonly detail: string | null = null,
  ) {
    super(message);
  }
}

/** SQLite's message, told apart by its kind. */
export function constraintError(kind: ConstraintKind, message: string): ConstraintError {
  if (kind === "trigger") return triggerError(message);
  return kind === "check" ? checkError(message) : new ConstraintError(kind, message);
}

/** The error of a CHECK: SQLite's message quotes its expression, which stays out of the error's own. */
function checkError(message: string): ConstraintError {
  const [short = message, detail = null] =
    /^(CHECK constraint failed): ([\s\S]*)$/.exec(message)?.slice(1) ?? [];
  return new ConstraintError("check", short, detail);
}

/** The error of a trigger's RAISE, and of virtual tables, which give no reason. */
function triggerError(message: string): ConstraintError {
  const hasText = message !== "" && message !== "constraint failed";
  return new ConstraintError("trigger", message, hasText ? message : null);
}

/** The storage cannot answer now: locked, read-only, full, unreachable, not set up. Nothing of the batch was kept. */
export class UnavailableError extends Error {
  override readonly name = "UnavailableError";
}

/** The database cannot carry out the statement as it is written, as where the schema is another. Nothing of the batch was kept. */
export class StatementError extends Error {
  override readonly name = "StatementError";
}

/** A wrapper of a database has found that the call is not to be made as it is. It counts for nothing. */
export class CallRefusedError extends Error {}

/** The server's own tables are not there. */
export class NotSetUpError extends UnavailableError {}
