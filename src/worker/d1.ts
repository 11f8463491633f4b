import { toHex } from "../encoding/hex.js";
import { abortError } from "../platform/abort.js";
import {
  type ConstraintKind,
  constraintError,
  type Database,
  NotSetUpError,
  OutcomeUnknownError,
  type Result,
  type ResultValue,
  type Statement,
  StatementError,
  UnavailableError,
} from "../platform/database.js";
import {
  danglingKeyError,
  danglingKeys,
  deferForeignKeys,
  refuseMoreDanglingKeys,
} from "../platform/foreign-key-check.js";
import { notSetUpError } from "../platform/not-set-up.js";
import { isPlainReal, realText, unscaledSql } from "../platform/real-scale.js";
import { checkParams, countPlaceholders, replacePlaceholders } from "../platform/statement-text.js";
import { beforeDeadline } from "../remote/before-deadline.js";

/** The part of Cloudflare's `D1Database` that this server uses. */
export interface D1Binding {
  prepare(sql: string): D1Prepared;
  batch(statements: D1Prepared[]): Promise<D1Result[]>;
}

interface D1Prepared {
  bind(...values: (null | number | string | ArrayBuffer)[]): D1Prepared;
}

interface D1Result {
  readonly results: readonly Readonly<Record<string, unknown>>[];
  readonly meta: { readonly changes: number };
}

/**
 * Opens a D1 database. Each call is one `batch` of D1, which is one transaction; `migrate` takes two. D1 returns rows
 * as objects, so the columns of a statement need distinct names that do not read as numbers.
 */
export function openD1(binding: D1Binding): Database {
  const send = async (statements: readonly Statement[]): Promise<readonly Result[]> => {
    if (statements.length === 0) return [];
    const prepared = statements.map((statement) => prepare(binding, statement));
    try {
      return (await binding.batch(prepared)).map(fromD1);
    } catch (error) {
      throw translated(error);
    }
  };
  const read = async (statements: readonly Statement[]) => {
    try {
      return await send(statements);
    } catch (error) {
      // A read can be repeated without harm, and trouble of D1 is usually over in a moment.
      if (!(error instanceof UnavailableError) || error instanceof NotSetUpError) throw error;
      return send(statements);
    }
  };
  const write = async (statements: readonly Statement[]) => {
    try {
      return await send(statements);
    } catch (error) {
      throw isLost(error) ? new OutcomeUnknownError(answerLost, { cause: error }) : error;
    }
  };
  return {
    foreignKeysStayOn: true,
    answerBytesMax,
    imageBytesMax,
    statementsMax,
    query: (statements, long) => beforeDeadline(read(statements), long),
    batch: write,
    migrate: async (statements) => {
      const [dangling] = await send([danglingKeys]);
      await write([deferForeignKeys, ...statements, refuseMoreDanglingKeys(dangling!)]);
    },
    close: async () => {},
  };
}

const answerLost = "the answer of D1 was lost: look whether it was carried out";

/**
 * Whether D1 may have committed the batch that has failed. That is so for trouble of D1's own, but not if D1 says that
 * it is overloaded: it says so before it begins.
 */
function isLost(error: unknown): boolean {
  return (
    error instanceof UnavailableError &&
    !(error instanceof NotSetUpError) &&
    !/overloaded|too many requests/i.test(error.message)
  );
}

/**
 * How many bytes of stored values an answer may hold. D1 limits a string to 2 MB, and JSON escaping can make stored
 * text up to six times as long.
 */
const answerBytesMax = 300_000;

/**
 * How many bytes a row may have as JSON in the log of changes. D1 allows 2 MB for a string, and a statement that reads
 * that JSON needs a part of that itself.
 */
const imageBytesMax = 1_900_000;

/**
 * D1 allows a Worker 1,000 queries for each request (https://developers.cloudflare.com/d1/platform/limits/), and a
 * request sends a few more before and after its batch.
 */
const statementsMax = 980;

/** In one statement. */
const paramsMax = 100;

function prepare(binding: D1Binding, statement: Statement): D1Prepared {
  const { sql, params } = statement;
  checkParams(statement, countPlaceholders(sql));
  return params.length <= paramsMax ? bound(binding, statement) : boundTogether(binding, statement);
}

/**
 * Prepares a statement with 100 parameters at most. D1 binds every JavaScript number as REAL, so integers are sent as
 * texts and cast back in the SQL. The unary plus takes away the affinity of the CAST, by which SQLite would convert the
 * value that the parameter is compared with.
 */
function bound(binding: D1Binding, { sql, params }: Statement): D1Prepared {
  const text = replacePlaceholders(sql, (index) => (typeof params[index] === "bigint" ? "(+CAST(? AS INTEGER))" : "?"));
  const values = params.map((param) => {
    if (typeof param === "bigint") return String(param);
    return param instanceof Uint8Array ? new Uint8Array(param).buffer : param;
  });
  return binding.prepare(text).bind(...values);
}

/** Sends more parameters than D1 allows as one, a JSON array, from which the SQL extracts each value. */
function boundTogether(binding: D1Binding, { sql, params }: Statement): D1Prepared {
  const text = replacePlaceholders(sql, (index) => {
    const value = `json_extract(?1, '$[${index}]')`;
    const param = params[index];
    if (typeof param === "number" && !isPlainReal(param))
      return `(${unscaledSql(`json_extract(?1, '$[${index}][0]')`, `json_extract(?1, '$[${index}][1]')`)})`;
    return param instanceof Uint8Array ? `unhex(${value})` : value;
  });
  const values = params.map((param) => {
    if (typeof param === "bigint") return String(param);
    if (typeof param === "number") return realText(param);
    return JSON.stringify(param instanceof Uint8Array ? toHex(param) : param);
  });
  return binding.prepare(text).bind(`[${values.join(",")}]`);
}

function fromD1({ results, meta }: D1Result): Result {
  return { rows: results.map((row) => Object.values(row).map(valueFromD1)), rowsWritten: meta.changes };
}

/** D1 returns BLOBs as arrays of numbers. */
function valueFromD1(value: unknown): ResultValue {
  if (Array.isArray(value)) return new Uint8Array(value as number[]);
  return value instanceof ArrayBuffer ? new Uint8Array(value) : (value as ResultValue);
}

const constraintKinds: Readonly<Record<string, ConstraintKind>> = {
  NOTNULL: "not_null",
  UNIQUE: "unique",
  PRIMARYKEY: "unique",
  ROWID: "unique",
  CHECK: "check",
  DATATYPE: "datatype",
  FOREIGNKEY: "foreign_key",
  TRIGGER: "trigger",
};

/** D1's error messages, such as `D1_ERROR: UNIQUE constraint failed: t.c: SQLITE_CONSTRAINT (extended: …)`. */
const reported =
  /^(?:D1_ERROR: )?(?<message>[\s\S]*?)(?:: (?<code>SQLITE_[A-Z]+)(?: \(extended: SQLITE_(?:CONSTRAINT_(?<constraint>[A-Z]+)|[A-Z_]+)\))?)?$/;

/**
 * SQLite's codes for errors that are the statement's own fault, so that sending it again would not help. SQLite gives
 * SQLITE_NOMEM for a statement that compiles into more instructions than D1 allows (https://sqlite.org/limits.html,
 * SQLITE_LIMIT_VDBE_OP).
 */
const mistaken: ReadonlySet<string> = new Set(["SQLITE_ERROR", "SQLITE_AUTH", "SQLITE_TOOBIG", "SQLITE_NOMEM"]);

/**
 * Turns an error of D1 into one of platform/database.ts. If the message does not show that the statements are the
 * cause, D1 itself is taken to be in trouble (`UnavailableError`).
 */
function translated(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { message = error.message, code, constraint } = reported.exec(error.message)?.groups ?? {};
  const known = abortError(message) ?? danglingKeyError(message) ?? notSetUpError(message);
  if (known !== null) return known;
  if (code === "SQLITE_MISMATCH") return constraintError("datatype", message);
  if (code === "SQLITE_CONSTRAINT" || message.endsWith("constraint failed")) {
    const named = kindOf(message);
    const kind = named === "trigger" ? (constraintKinds[constraint ?? ""] ?? named) : named;
    return constraintError(kind, message);
  }
  return code !== undefined && mistaken.has(code)
    ? new StatementError(message, { cause: error })
    : new UnavailableError(message, { cause: error });
}

/**
 * Tells the kind from SQLite's message: `trigger` if the message is none of SQLite's own, as a trigger gives its own to
 * `RAISE`. The extended code would tell it too, but D1 may leave it out.
 */
function kindOf(message: string): ConstraintKind {
  if (/^NOT NULL constraint failed/.test(message)) return "not_null";
  if (/^UNIQUE constraint failed/.test(message)) return "unique";
  if (/^CHECK constraint failed/.test(message)) return "check";
  if (/^FOREIGN KEY constraint failed/.test(message)) return "foreign_key";
  return /^cannot store /.test(message) ? "datatype" : "trigger";
}
