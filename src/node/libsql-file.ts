import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { UnavailableError } from "../platform/database.js";

/**
 * Writes a consistent snapshot of the database at `from`, which a server may be writing to, into `to`: an empty file,
 * so that the caller chooses its mode. The snapshot is one file without a WAL. Throws UnavailableError.
 */
export async function snapshotDatabase(from: string, to: string): Promise<void> {
  const { failure } = await inThread({ kind: "snapshot", from, to });
  if (failure !== null) throw new UnavailableError(`no snapshot of ${from} could be taken: ${failure}`);
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
async function inThread(job: import("./libsql-file-worker.js").Job): Promise<Answer> {
  const worker = new Worker(new URL("./libsql-file-worker.js", import.meta.url), { workerData: job });
  // Rejects with what the thread threw, where it could not even answer.
  const [answer] = (await once(worker, "message")) as [Answer];
  // The files are released when the thread has ended.
  await worker.terminate();
  return answer;
}
