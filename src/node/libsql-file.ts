import { Worker } from "node:worker_threads";
import { UnavailableError } from "../platform/database.js";
import type { Job } from "./libsql-file-worker.js";

/**
 * Writes a consistent snapshot of the database at `from`, which a server may be writing to, into `to`: an empty file,
 * so that the caller chooses its mode. The snapshot is one file without a WAL. Throws UnavailableError. Beside a process
 * that ends before the promise has settled, SQLite leaves an empty log.
 */
export async function snapshotDatabase(from: string, to: string): Promise<void> {
  const { failure } = await inThread({ kind: "snapshot", from, to });
  if (failure !== null)
    throw new UnavailableError(`no snapshot of ${from} could be taken: ${failure}${remedyOf(failure)}`);
}

/** Who reads a database in WAL mode writes its index, also where nothing else is written. */
function remedyOf(failure: string): string {
  return failure.includes("readonly database")
    ? "; whoever takes it has to be able to write the file and its directory, as the server does"
    : "";
}

/** What is wrong with a database file that nobody has open; null where it is sound. */
export async function databaseProblem(path: string): Promise<string | null> {
  const { problems, failure } = await inThread({ kind: "check", path });
  return failure ?? problems[0] ?? null;
}

interface Answer {
  readonly problems: readonly string[];
  readonly failure: string | null;
}

/** libsql blocks its thread for as long as it takes, and a person who waits wants progress and Ctrl-C. */
async function inThread(job: Job): Promise<Answer> {
  const worker = new Worker(new URL("./libsql-file-worker.js", import.meta.url), { workerData: job });
  const answer = await new Promise<Answer>((resolve, reject) => {
    worker.once("message", resolve);
    // What the thread threw, where it could not even answer.
    worker.once("error", reject);
    worker.once("exit", (code) => resolve({ problems: [], failure: `its thread ended with ${code}` }));
  });
  // The files are released when the thread has ended.
  await worker.terminate();
  return answer;
}
