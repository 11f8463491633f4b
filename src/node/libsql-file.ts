import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { UnavailableError } from "../platform/database.js";
import { withLiterals } from "../platform/statement-text.js";

/**
 * Writes a consistent snapshot of the database at `from`, which a server may be writing to, into `to`: an empty file,
 * so that the caller chooses its mode. The snapshot is one file without a WAL. Throws UnavailableError. Beside a process
 * that ends before the promise has settled, SQLite leaves an empty log.
 */
export async function snapshotDatabase(from: string, to: string): Promise<void> {
  // The WAL as every connection beside a server: see libsql-connection.ts. Where none runs, closing the last connection
  // does move the WAL of one that crashed into the database, as its next start would.
  const settings = "PRAGMA busy_timeout=5000; PRAGMA wal_autocheckpoint=0";
  // One read transaction over everything, beside which a server goes on writing to its WAL. Unlike VACUUM, and unlike
  // what SQLite promises, VACUUM INTO keeps the rowids of tables without a primary key (insert.c asks for
  // DBFLAG_VacuumInto); a test holds it to that.
  const statement = withLiterals({ sql: "VACUUM INTO ?", params: [to] });
  const { failure } = await inThread(from, settings, statement);
  if (failure === null) return;
  // Who reads a database in WAL mode writes its index, also where nothing else is written.
  const remedy = failure.includes("readonly database")
    ? "; whoever takes it has to be able to write the file and its directory, as the server does"
    : "";
  throw new UnavailableError(`no snapshot of ${from} could be taken: ${failure}${remedy}`);
}

/** What is wrong with a database file that nobody has open; null where it is sound. */
export async function databaseProblem(path: string): Promise<string | null> {
  // Its schema comes from whoever made it, so its expressions call nothing with effects. Rows that a CHECK would not let
  // in today may be there: they were before it, or came in past it.
  const settings = "PRAGMA trusted_schema=OFF; PRAGMA ignore_check_constraints=ON";
  const { rows, failure } = await inThread(path, settings, "PRAGMA quick_check(1)");
  return failure ?? rows.map((row) => row.quick_check!).find((line) => line !== "ok") ?? null;
}

interface Answer {
  readonly rows: readonly Readonly<Record<string, string>>[];
  /** The message of the error, if there was one. */
  readonly failure: string | null;
}

/**
 * Carries out both, and gives the rows of `statement`. libsql blocks its thread for as long as it takes, and a person who
 * waits wants progress and Ctrl-C.
 */
async function inThread(path: string, settings: string, statement: string): Promise<Answer> {
  const workerData = { path, settings, statement };
  const worker = new Worker(new URL("./libsql-file-worker.js", import.meta.url), { workerData });
  // Both reject with what the thread throws where it cannot even answer.
  const ended = once(worker, "exit").then(([code]) => [
    { rows: [], failure: `its thread ended with ${code}` },
  ]);
  const [answer] = await Promise.race([once(worker, "message"), ended]);
  // The files are released when the thread has ended.
  await worker.terminate();
  return answer;
}
