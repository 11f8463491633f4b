// @ts-check
// Plain JavaScript, so that a worker thread can load this file from the sources and from the build alike.
import { parentPort, workerData } from "node:worker_threads";
import Libsql from "libsql";

/** An error is returned as its message, because errors lose their class on the way to another thread. */
function answer() {
  const { path, settings, statement } = workerData;
  try {
    const database = new Libsql(path);
    try {
      database.exec(settings);
      return { rows: database.prepare(statement).all(), failure: null };
    } finally {
      database.close();
    }
  } catch (error) {
    return { rows: [], failure: error instanceof Error ? error.message : String(error) };
  }
}

parentPort?.postMessage(answer());
