import { collectGarbage } from "./collect-garbage.js";

/**
 * About how many bytes SQLite takes for a prepared statement that has been run: 12 KB for any, and 12 bytes for each
 * character of its text.
 */
export function preparedBytes(sql: string): number {
  return 12_288 + 12 * sql.length;
}

/** After how many bytes of newly prepared statements a garbage collection is started. */
const collectEveryBytes = 33_554_432;
let bytesSince = 0;

/**
 * To be called for each newly prepared statement. libsql frees a statement when V8 garbage-collects it, and V8 does not
 * know how much memory that would free. Unless a collection is started now and then, thousands of different statements
 * would take hundreds of megabytes.
 */
export function countPrepared(sql: string): void {
  bytesSince += preparedBytes(sql);
  if (bytesSince < collectEveryBytes) return;
  bytesSince = 0;
  collectGarbage({ execution: "async" });
}
