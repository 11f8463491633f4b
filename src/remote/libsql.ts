import { createClient, LibsqlError, type ResultSet } from "@libsql/client/http";
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
import { danglingKeyError, danglingKeys, refuseMoreDanglingKeys } from "../platform/foreign-key-check.js";
import { notSetUpError } from "../platform/not-set-up.js";
import { checkParams, countPlaceholders } from "../platform/statement-text.js";
import { beforeDeadline } from "./before-deadline.js";

/** The libSQL server to use, and the limits of its calls. */
export interface RemoteLibsqlOptions {
  /** With the scheme libsql:, https: or http:. */
  readonly url: string;
  readonly authToken: string | null;
  readonly fetch: typeof globalThis.fetch;
  /** For one round trip to the server; 10,000 by default. */
  readonly deadlineMs?: number;
}

/**
 * Opens a libSQL server over HTTP (protocol Hrana). Each call is one round trip; `migrate` takes two, and a `query`
 * that cannot reach the server is sent once more.
 */
export function openRemoteLibsql(options: RemoteLibsqlOptions): Database {
  const { url, authToken, fetch: send, deadlineMs = 10_000 } = options;
  const client = createClient({
    url: url.replace(/^libsql:/, "https:"),
    ...(authToken !== null && { authToken }),
    intMode: "bigint",
    // The client keeps no queue: a queued call could wait longer than its deadline, and on a Worker a cancelled request
    // would never leave the queue.
    concurrency: Number.POSITIVE_INFINITY,
    fetch: async (request: Request) => {
      // The libSQL client sets no deadline of its own, so a server that stops responding would keep the caller waiting.
      // A redirect is a failure, because the token must not be sent to another address.
      const response = await send(request, { redirect: "manual", signal: AbortSignal.timeout(deadlineMs) });
      if (response.status < 500) return response;
      // Such a response may be a gateway's, and the client would take its text for a message of the database.
      await response.body?.cancel();
      throw new Error(`the database server answered ${response.status}`);
    },
  });
  const read = async (statements: Native[]): Promise<readonly Result[]> =>
    (await client.batch(statements, "read")).map((set) => ({ rows: rowsOf(set), rowsWritten: 0 }));
  const readTwice = async (statements: readonly Statement[]): Promise<readonly Result[]> => {
    if (statements.length === 0) return [];
    const natives = statements.map(native);
    try {
      return await read(natives);
    } catch (error) {
      // A read is safe to repeat, so it is sent once more if the server cannot be reached.
      const known = translated(error);
      if (!(known instanceof UnavailableError) || known instanceof NotSetUpError) throw known;
    }
    return read(natives).catch(rethrow);
  };
  const write = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw mayBeDone(error) ? new OutcomeUnknownError(answerLost, { cause: error }) : translated(error);
    }
  };
  return {
    foreignKeysStayOn: false,
    answerBytesMax,
    imageBytesMax: null,
    statementsMax: null,
    query: (statements, long) => beforeDeadline(readTwice(statements), long),
    batch: async (statements) => {
      if (statements.length === 0) return [];
      return countingChanges(await write(client.batch(withCounts(statements), "write")));
    },
    migrate: async (statements) => {
      const [dangling] = await read([native(danglingKeys)]).catch(rethrow);
      const checked = [...statements, refuseMoreDanglingKeys(dangling!)].map(native);
      await write(client.migrate(checked));
    },
    close: async () => client.close(),
  };
}

/**
 * How many bytes of values one answer may hold. It is far less than the 10 MB of Hrana JSON above which a libSQL server
 * refuses to answer, because rows come as JSON text, which is escaped again within that JSON.
 */
const answerBytesMax = 1_048_576;

interface Native {
  readonly sql: string;
  readonly args: (null | bigint | number | string | Uint8Array)[];
}

function native(statement: Statement): Native {
  checkParams(statement, countPlaceholders(statement.sql));
  return { sql: statement.sql, args: [...statement.params] };
}

const totalChanges: Native = { sql: "SELECT total_changes()", args: [] };

/**
 * The difference of `total_changes()` is the number of rows that a statement has written. Hrana's own count leaves out
 * rows written by triggers and foreign key actions, and by statements with RETURNING.
 */
function withCounts(statements: readonly Statement[]): Native[] {
  return [totalChanges, ...statements.flatMap((statement) => [native(statement), totalChanges])];
}

function countingChanges(sets: readonly ResultSet[]): readonly Result[] {
  const count = (index: number) => Number(sets[index]!.rows[0]![0]);
  return sets.flatMap((set, index) =>
    index % 2 === 0 ? [] : [{ rows: rowsOf(set), rowsWritten: count(index + 1) - count(index - 1) }],
  );
}

function rowsOf({ rows, columns }: ResultSet): Result["rows"] {
  return rows.map((row) => columns.map((_, index) => fromHrana(row[index])));
}

function fromHrana(value: unknown): ResultValue {
  if (typeof value === "bigint") return Number(value);
  return value instanceof ArrayBuffer ? new Uint8Array(value) : (value as ResultValue);
}

const constraintKinds: readonly (readonly [RegExp, ConstraintKind])[] = [
  [/^NOT NULL constraint failed/, "not_null"],
  [/^UNIQUE constraint failed/, "unique"],
  [/^CHECK constraint failed/, "check"],
  [/^FOREIGN KEY constraint failed/, "foreign_key"],
  [/^cannot store \w+ value in |^datatype mismatch/, "datatype"],
];

function rethrow(error: unknown): never {
  throw translated(error);
}

/**
 * Turns an error of the libSQL client into one of platform/database.ts. An error that does not come from the server is
 * one of the network, whatever the runtime calls it.
 */
function translated(error: unknown): Error {
  if (!(error instanceof LibsqlError)) return unavailable(error);
  const message = error.message.replace(/^(?:[A-Z_]+: )*(?:SQLite error: )?/, "");
  const known = abortError(message) ?? danglingKeyError(message) ?? notSetUpError(message);
  if (known !== null) return known;
  switch (error.code) {
    case "SQLITE_CONSTRAINT":
    case "SQLITE_MISMATCH": {
      const kind = constraintKinds.find(([pattern]) => pattern.test(message))?.[1] ?? "trigger";
      return constraintError(kind, message);
    }
    case "SQLITE_UNKNOWN":
    case "SQLITE_ERROR":
    case "SQLITE_TOOBIG":
    case "SQL_PARSE_ERROR":
    case "SQL_INPUT_ERROR":
      return new StatementError(message, { cause: error });
    default:
      return unavailable(error);
  }
}

const noAnswer = "the database server does not answer";
const answerLost = "the answer of the database server was lost: look whether it was carried out";

function unavailable(error: unknown): UnavailableError {
  return new UnavailableError(noAnswer, { cause: error });
}

/**
 * The codes of network errors of connections that were not made, so that the server has not received the statements.
 */
const neverSent = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"];
/**
 * The client's codes for an answer that it does not understand. The server may have carried out the statements or not.
 */
const notUnderstood = ["HRANA_PROTO_ERROR", "HRANA_CLOSED_ERROR", "INTERNAL_ERROR"];

/** Whether the server may have carried out a write although its call has failed. */
function mayBeDone(error: unknown): boolean {
  if (error instanceof LibsqlError) return notUnderstood.includes(error.code);
  const { code } = ((error as Error).cause ?? error) as { readonly code?: string };
  return !neverSent.includes(code ?? "");
}
