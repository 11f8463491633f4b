import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { UnavailableError } from "../../platform/database.js";
import { withLiterals } from "../../platform/statement-text.js";

/**
 * Writes a consistent snapshot of the database at `from` into a new file at `to`, which gets SQLite's usual file mode.
 * A server may be writing to the database meanwhile. The snapshot is one file without a WAL. Throws UnavailableError
 * where no snapshot can be taken. If the process ends before the promise settles, SQLite may leave an empty WAL file
 * behind.
 */
export async function snapshotDatabase(from: string, to: string): Promise<void> {
  // Automatic checkpoints are off, as on every connection that may be open beside a server: one could corrupt the WAL
  // (see libsql-connection.ts). If no server runs, SQLite still moves a WAL that a crashed server left into the
  // database when this connection closes. That is safe, because nobody else writes then.
  const settings = "PRAGMA busy_timeout=5000; PRAGMA wal_autocheckpoint=0";
  // VACUUM INTO reads everything in one transaction, while a server can go on writing to its WAL. Unlike VACUUM, and
  // although SQLite's documentation does not promise it, VACUUM INTO keeps the rowids of tables without a primary key
  // (DBFLAG_VacuumInto in SQLite's insert.c). A test checks that it does.
  const statement = withLiterals({ sql: "VACUUM INTO ?", params: [to] });
  const { failure } = await inThread(from, settings, statement);
  if (failure === null) return;
  // Where the file cannot be written, the error's message says what helps: even a connection that only reads a database
  // in WAL mode has to write the WAL's shared-memory index.
  const remedy = failure.includes("readonly database")
    ? "; whoever takes it has to be able to write the file and its directory, as the server does"
    : "";
  throw new UnavailableError(`no snapshot of ${from} could be taken: ${failure}${remedy}`);
}

/** Describes what is wrong with a database file that no process has open; null where it is sound. */
export async function databaseProblem(path: string): Promise<string | null> {
  // The file's schema may be anybody's, so functions with side effects are forbidden in its expressions. Rows that
  // violate a CHECK are tolerated: they may be older than the CHECK, or may have been written with checks disabled.
  const settings = "PRAGMA trusted_schema=OFF; PRAGMA ignore_check_constraints=ON";
  const { rows, failure } = await inThread(path, settings, "PRAGMA quick_check(1)");
  if (failure !== null) return failure;
  const said = rows.flatMap((row) => Object.values(row)).join("\n");
  return said === "ok" ? null : said || "it cannot be checked";
}

interface Answer {
  readonly rows: readonly Readonly<Record<string, string>>[];
  /** The message of the error with which the statements failed that the thread ran; null if they did not fail. */
  readonly failure: string | null;
}

/**
 * Executes `settings` and then `statement` in a thread of its own. Returns the rows of `statement`, or the message of
 * the error with which one of the two failed; rejects only where the thread itself fails. libsql blocks its thread
 * while a statement runs, which would keep the process from showing progress and from handling Ctrl-C.
 */
async function inThread(path: string, settings: string, statement: string): Promise<Answer> {
  const workerData = { path, settings, statement };
  const worker = new Worker(new URL("./libsql-file-worker.js", import.meta.url), { workerData });
  // Waits for the thread's answer, or for the thread's end where it gives no answer. Rejects if the thread throws.
  const ended = once(worker, "exit").then(([code]) => [
    { rows: [], failure: `its thread ended with ${code}` },
  ]);
  const [answer] = await Promise.race([once(worker, "message"), ended]);
  // The function returns only after the thread's end, because libsql closes the files only then.
  await worker.terminate();
  return answer;
}
