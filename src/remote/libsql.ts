import { createClient, LibsqlError, type ResultSet } from "@libsql/client/http";
import {
  type ConstraintKind,
  constraintError,
  type Database,
  NotSetUpError,
  type Result,
  type ResultValue,
  type Statement,
  StatementError,
  UnavailableError,
} from "../platform/database.js";
import { danglingKeyError, danglingKeys, refuseMoreDanglingKeys } from "../platform/foreign-key-check.js";
import { notSetUpError } from "../platform/not-set-up.js";
import { checkParams, countPlaceholders } from "../platform/statement-text.js";

export interface RemoteLibsqlOptions {
  /** libsql:, https: or http: */
  readonly url: string;
  readonly authToken: string | null;
  readonly fetch: typeof globalThis.fetch;
  /** Of one round trip. */
  readonly deadlineMs?: number;
}

/** A libSQL server over HTTP (Hrana) behind `Database`. Every call is one round trip, but for `migrate`. */
export function openRemoteLibsql(options: RemoteLibsqlOptions): Database {
  const { url, authToken, fetch: send, deadlineMs = 10_000 } = options;
  const client = createClient({
    url: url.replace(/^libsql:/, "https:"),
    ...(authToken !== null && { authToken }),
    intMode: "bigint",
    // No queue: it would wait longer than a deadline, and on a Worker a request that vanishes would keep its place.
    concurrency: Number.POSITIVE_INFINITY,
    // The client's own Request has no deadline, and a server that is gone without a word would hang the caller.
    fetch: (request: Request) => send(request, { signal: AbortSignal.timeout(deadlineMs) }),
  });
  const read = async (statements: Native[]): Promise<readonly Result[]> =>
    (await client.batch(statements, "read")).map((set) => ({ rows: rowsOf(set), rowsWritten: 0 }));
  return {
    foreignKeysStayOn: false,
    answerBytesMax,
    query: async (statements) => {
      if (statements.length === 0) return [];
      const natives = statements.map(native);
      try {
        return await read(natives);
      } catch (error) {
        // Reading twice is safe.
        const known = translated(error);
        if (!(known instanceof UnavailableError) || known instanceof NotSetUpError) throw known;
      }
      return read(natives).catch(rethrow);
    },
    batch: async (statements) => {
      if (statements.length === 0) return [];
      const counted = withCounts(statements);
      return countingChanges(await client.batch(counted, "write").catch(rethrow));
    },
    migrate: async (statements) => {
      const [dangling] = await read([native(danglingKeys)]).catch(rethrow);
      const checked = [...statements, refuseMoreDanglingKeys(dangling!)].map(native);
      await client.migrate(checked).catch(rethrow);
    },
    close: async () => client.close(),
  };
}

/** A server refuses to answer with more than 10 MB of Hrana, in which a JSON text is escaped once more. */
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

/** Hrana's own count leaves out what triggers and foreign key actions write, and what RETURNING returns. */
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

/** The contract's error for one of the client. What the server has not said is the network's, whatever a runtime calls it. */
function translated(error: unknown): Error {
  if (!(error instanceof LibsqlError)) return unavailable(error);
  const message = error.message.replace(/^(?:[A-Z_]+: )*(?:SQLite error: )?/, "");
  const known = danglingKeyError(message) ?? notSetUpError(message);
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
      return new StatementError(message, { cause: error });
    default:
      return unavailable(error);
  }
}

function unavailable(error: unknown): UnavailableError {
  return new UnavailableError("the database server does not answer", { cause: error });
}
