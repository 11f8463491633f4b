// @ts-check
// Plain JavaScript, so that a Worker loads this file from the sources and from the build alike.
import { parentPort, workerData } from "node:worker_threads";
import Libsql from "libsql";

/** @typedef {{ kind: "snapshot", from: string, to: string } | { kind: "check", path: string }} Job */

/** @param {Job} job */
function carryOut(job) {
  const database = new Libsql(job.kind === "snapshot" ? job.from : job.path);
  try {
    return job.kind === "snapshot" ? snapshot(database, job.to) : check(database);
  } finally {
    database.close();
  }
}

/**
 * One read transaction over everything, beside which a server goes on writing to its WAL. Unlike VACUUM, and unlike
 * what SQLite promises, VACUUM INTO keeps the rowids of tables without a primary key (insert.c asks for
 * DBFLAG_VacuumInto); a test holds it to that.
 *
 * @param {Libsql.Database} database
 * @param {string} to
 */
function snapshot(database, to) {
  database.exec("PRAGMA busy_timeout=5000");
  // As every connection beside a server: see libsql-connection.ts. Where none runs, closing the last connection does
  // move the WAL of one that crashed into the database, as its next start would.
  database.exec("PRAGMA wal_autocheckpoint=0");
  database.prepare("VACUUM INTO ?").run(to);
  return [];
}

/**
 * What is wrong with the file. Its schema comes from whoever made it, so its expressions call nothing with effects. Rows
 * that a CHECK would not let in today may be there: they were before it, or came in past it.
 *
 * @param {Libsql.Database} database
 */
function check(database) {
  database.exec("PRAGMA trusted_schema=OFF");
  database.exec("PRAGMA ignore_check_constraints=ON");
  const rows = /** @type {string[][]} */ (database.prepare("PRAGMA quick_check(1)").raw(true).all([]));
  return rows.flat().filter((line) => line !== "ok");
}

/** Errors lose their class on the way to the other thread, and the message is all that is needed there. */
function answer() {
  try {
    return { problems: carryOut(workerData), failure: null };
  } catch (error) {
    return { problems: [], failure: error instanceof Error ? error.message : String(error) };
  }
}

parentPort?.postMessage(answer());
