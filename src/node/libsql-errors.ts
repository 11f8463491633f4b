import Libsql from "libsql";
import { abortError } from "../platform/abort.js";
import {
  type ConstraintKind,
  constraintError,
  StatementError,
  UnavailableError,
} from "../platform/database.js";
import { danglingKeyError } from "../platform/foreign-key-check.js";
import { notSetUpError } from "../platform/not-set-up.js";

/** The kinds of constraints, by SQLite's extended result code of the error. */
const constraintKinds = new Map<number, ConstraintKind>([
  [19, "trigger"], // CONSTRAINT: of a virtual table that a trigger writes
  [20, "datatype"], // MISMATCH: not an integer for an INTEGER PRIMARY KEY
  [275, "check"],
  [787, "foreign_key"],
  [1299, "not_null"],
  [1555, "unique"],
  [1811, "trigger"], // also ON DELETE and ON UPDATE RESTRICT
  [2067, "unique"],
  [2579, "unique"], // CONSTRAINT_ROWID
  [3091, "datatype"], // CONSTRAINT_DATATYPE, of a STRICT table
]);

const primaryBusy = 5;

/** SQLite's primary result codes for trouble with the storage, after which the same statement may succeed later. */
const unavailable = new Set([
  primaryBusy,
  6, // LOCKED
  7, // NOMEM
  8, // READONLY
  10, // IOERR
  11, // CORRUPT
  13, // FULL
  14, // CANTOPEN
  15, // PROTOCOL: the locks of the WAL
  26, // NOTADB
]);

/**
 * Turns an error of SQLite into one of platform/database.ts; other errors are returned unchanged. Messages of
 * constraints name columns and quote no SQL.
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
  return unavailable.has(code & 0xff)
    ? new UnavailableError(message, { cause: error })
    : new StatementError(message, { cause: error });
}

/** Whether the statement failed because another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && (code & 0xff) === primaryBusy;
}

function sqliteCode(error: unknown): number | undefined {
  return error instanceof Libsql.SqliteError ? error.rawCode : undefined;
}
