import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { UnavailableError } from "../../platform/database.js";
import { withLiterals } from "../../platform/statement-text.js";

/**
 * Writes a consistent snapshot of the database at `from` into a new file at `to`, which gets SQLite's usual file mode
 * and no WAL. A server may be writing to the database meanwhile. Throws UnavailableError if no snapshot can be taken.
 * If the process ends before the promise settles, SQLite may leave an empty WAL file behind.
 */
export async function snapshotDatabase(from: string, to: string): Promise<void> {
  // A checkpoint next to a server could corrupt the WAL (see libsql-connection.ts). If no server runs, SQLite still
  // moves a WAL that a crashed server left into the database when this connection closes. That is safe, because nobody
  // else writes then.
  const settings = "PRAGMA busy_timeout=5000; PRAGMA wal_autocheckpoint=0";
  // VACUUM INTO reads everything in one transaction, while a server can go on writing to its WAL. Unlike VACUUM, and
  // although SQLite's documentation does not promise it, VACUUM INTO keeps the rowids of tables without a primary key
  // (DBFLAG_VacuumInto in SQLite's insert.c). A test checks that it does.
  const statement = withLiterals({ sql: "VACUUM INTO ?", params: [to] });
  const { failure } = await inThread(from, settings, statement);
  if (failure === null) return;
  // Even a connection that only reads a database in WAL mode has to write the WAL's shared-memory index.
  const remedy = failure.includes("readonly database")
    ? "; whoever takes it has to be able to write the file and its directory, as the server does"
    : "";
  throw new UnavailableError(`no snapshot of ${from} could be taken: ${failure}${remedy}`);
}

/** What is wrong with a database file that no process has open; null if it is sound. */
export async function databaseProblem(path: string): Promise<string | null> {
  // The file's schema may be anybody's, so functions with side effects are forbidden in its expressions. Rows that
  // violate a CHECK are tolerated: they may be older than the CHECK, or written with checks disabled.
  const settings = "PRAGMA trusted_schema=OFF; PRAGMA ignore_check_constraints=ON";
  const { rows, failure } = await inThread(path, settings, "PRAGMA quick_check(1)");
  if (failure !== null) return failure;
  const said = rows.flatMap((row) => Object.values(row)).join("\n");
  return said === "ok" ? null : said || "it cannot be checked";
}

interface ThreadAnswer {
  readonly rows: readonly Readonly<Record<string, string>>[];
  /** The message of the error with which a statement failed. */
  readonly failure: string | null;
}

/**
 * Executes `settings` and then `statement` in a thread of its own, because libsql blocks its thread while a statement
 * runs: the process could neither show progress nor handle Ctrl-C. Rejects only if the thread itself fails.
 */
async function inThread(path: string, settings: string, statement: string): Promise<ThreadAnswer> {
  const workerData = { path, settings, statement };
  const worker = new Worker(new URL("./libsql-file-worker.js", import.meta.url), { workerData });
  // The thread may end without an answer.
  const ended = once(worker, "exit").then(([code]) => [{ rows: [], failure: `its thread ended with ${code}` }]);
  const [answer] = await Promise.race([once(worker, "message"), ended]);
  // libsql closes the files only when the thread ends.
  await worker.terminate();
  return answer;
}
