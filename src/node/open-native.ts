import Libsql from "libsql";
import { readsAtOnce } from "./libsql-long-work.js";

/**
 * Opens a database with libsql. Every synchronous connection of the process is opened here, because libsql makes its
 * threads with the first one: by default as many as there are processors, so that a COMMIT, or another caller's work,
 * would wait until a long read has ended. So it gets two threads more than long reads may run at once: one for COMMITs
 * and one for a long write.
 */
export function openNative(path: string): Libsql.Database {
  process.env.TOKIO_WORKER_THREADS ??= String(readsAtOnce + 2);
  return new Libsql(path);
}
