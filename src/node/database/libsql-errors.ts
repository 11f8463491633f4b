import Libsql from "libsql";
import { abortError } from "../../platform/abort.js";
import {
  type ConstraintKind,
  constraintError,
  MemoryError,
  StatementError,
  UnavailableError,
} from "../../platform/database.js";
import { danglingKeyError } from "../../platform/foreign-key-check.js";
import { notSetUpError } from "../../platform/not-set-up.js";

/** By SQLite's extended result code. */
const constraintKinds = new Map<number, ConstraintKind>([
  [19, "trigger"], // SQLITE_CONSTRAINT: of a virtual table that a trigger writes
  [20, "datatype"], // SQLITE_MISMATCH: a value that is not an integer for an INTEGER PRIMARY KEY
  [275, "check"],
  [787, "foreign_key"],
  [1299, "not_null"],
  [1555, "unique"],
  [1811, "trigger"], // SQLITE_CONSTRAINT_TRIGGER, also for ON DELETE RESTRICT and ON UPDATE RESTRICT
  [2067, "unique"],
  [2579, "unique"], // SQLITE_CONSTRAINT_ROWID: the rowid is taken
  [3091, "datatype"], // SQLITE_CONSTRAINT_DATATYPE: a value of the wrong type in a STRICT table
]);

const primaryBusy = 5;
const outOfMemory = 7;

/** SQLite's primary result codes for trouble with the storage or its locks. The same statement may succeed later. */
const unavailable = new Set([
  primaryBusy,
  6, // SQLITE_LOCKED
  8, // SQLITE_READONLY
  10, // SQLITE_IOERR
  11, // SQLITE_CORRUPT
  13, // SQLITE_FULL: the disk is full
  14, // SQLITE_CANTOPEN
  15, // SQLITE_PROTOCOL: trouble with the locks of the WAL
  26, // SQLITE_NOTADB
]);

/**
 * Turns an error of SQLite into one of `platform/database.ts`; other errors are returned unchanged. The messages for
 * violated constraints name columns and quote no SQL.
 */
export function translated(error: unknown): unknown {
  const code = sqliteCode(error);
  if (!(error instanceof Error) || code === undefined) return error;
  const kind = constraintKinds.get(code);
  if (kind !== undefined) {
    const isRestrict = kind === "trigger" && error.message === "FOREIGN KEY constraint failed";
    return constraintError(isRestrict ? "foreign_key" : kind, error.message);
  }
  const known = abortError(error.message) ?? danglingKeyError(error.message) ?? notSetUpError(error.message);
  if (known !== null) return known;
  const { message } = error;
  if ((code & 0xff) === outOfMemory) return new MemoryError(message, { cause: error });
  return unavailable.has(code & 0xff)
    ? new UnavailableError(message, { cause: error })
    : new StatementError(message, { cause: error });
}

/** Whether another connection holds the database's lock. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && (code & 0xff) === primaryBusy;
}

function sqliteCode(error: unknown): number | undefined {
  return error instanceof Libsql.SqliteError ? error.rawCode : undefined;
}
