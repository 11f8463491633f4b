import Libsql from "libsql";
import { readsAtOnce } from "./libsql-long-work.js";

/**
 * Every synchronous connection of the process is opened here, because libsql makes its thread pool with the first one.
 * By default the pool has as many threads as there are processors: while long reads use all of them, a COMMIT or
 * another caller's work would have to wait. So, unless TOKIO_WORKER_THREADS is set already, the pool gets two threads
 * more than the long reads that may run at once: one for COMMITs and one for a long write.
 */
export function openNative(path: string): Libsql.Database {
  process.env.TOKIO_WORKER_THREADS ??= String(readsAtOnce + 2);
  return new Libsql(path);
}
