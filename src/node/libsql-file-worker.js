// @ts-check
// Plain JavaScript, so that a Worker loads this file from the sources and from the build alike.
import { parentPort, workerData } from "node:worker_threads";
import Libsql from "libsql";

/** Errors lose their class on the way to the other thread, and the message is all that is needed there. */
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
