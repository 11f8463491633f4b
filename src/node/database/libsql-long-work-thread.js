// @ts-check
// The thread of libsql-long-work.ts. Plain JavaScript, so that a worker thread can load it from the sources and the
// build alike.
import { parentPort, workerData } from "node:worker_threads";
import PromiseDatabase from "libsql/promise";
import { collectGarbage } from "./collect-garbage.js";

/** @typedef {import("./libsql-long-work.js").Task} Task */
/** @typedef {import("./libsql-long-work.js").TaskAnswer} TaskAnswer */
/** @typedef {import("libsql/promise")} NativeDatabase */

/** @type {import("./libsql-long-work.js").ThreadOptions} */
const { path, synchronous } = workerData;

/** A connection keeps its statements, so it is replaced after so many of them, or so many characters. */
const statementsMax = 64;
const statementCharactersMax = 524_288;
/** An interrupt before a statement's first step has no effect, so it is repeated. */
const interruptEveryMs = 5;
/** How long a read waits for a lock, which no interrupt ends. */
const readLockWaitMs = 250;

/**
 * A connection, which runs one task at a time. It may be interrupted only while a statement runs: at other times that
 * would have no effect, or block the thread.
 */
class Lane {
  /** @type {NativeDatabase | null} */
  #database = null;
  /**
   * Statements by their text. They are kept as long as the connection, because freeing one waits for what the
   * connection runs.
   * @type {Map<string, any>}
   */
  #statements = new Map();
  #characters = 0;
  #isRunning = false;
  isFree = true;

  /** @param {string} settings @param {number} lockWaitMs */
  constructor(settings, lockWaitMs) {
    this.settings = settings;
    this.lockWaitMs = lockWaitMs;
  }

  interrupt() {
    if (this.#isRunning) this.#database?.interrupt();
  }

  /**
   * Runs a statement. Its rows are computed in the first step, which is the one that runs outside of this thread.
   * @param {string} sql @param {Task["statements"][number]["params"]} params
   */
  async run(sql, params) {
    const statement = await this.#prepare(sql);
    this.#isRunning = true;
    try {
      return await statement.all([...params]);
    } finally {
      this.#isRunning = false;
    }
  }

  /** Throws where the statement does not compile; does not run it. @param {string} sql */
  async compile(sql) {
    await this.#prepare(sql);
  }

  /** Executes what is not interrupted. @param {string} sql */
  async exec(sql) {
    await (await this.#open()).exec(sql);
  }

  /** @param {string} sql */
  async #prepare(sql) {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const prepared = await (await this.#open()).prepare(sql);
    const isReader = prepared.reader;
    const statement = (isReader ? prepared.raw(true) : prepared).safeIntegers(true);
    this.#statements.set(sql, statement);
    this.#characters += sql.length;
    return statement;
  }

  async #open() {
    if (this.#database !== null) return this.#database;
    const database = new PromiseDatabase(path, { timeout: this.lockWaitMs });
    await database.exec(this.settings);
    this.#database = database;
    return database;
  }

  closeIfUsedUp() {
    if (this.#statements.size >= statementsMax || this.#characters >= statementCharactersMax) this.close();
  }

  close() {
    if (this.#database === null) return;
    this.#database.close();
    this.#database = null;
    this.#statements = new Map();
    this.#characters = 0;
    // Frees the statements of the closed connection, which keep the database's files open.
    collectGarbage();
  }
}

// Only the server's own writing connection checkpoints. Sorting in memory cannot be interrupted, and takes as much
// memory as there is to sort.
const always = "PRAGMA wal_autocheckpoint=0; PRAGMA temp_store=FILE;";
/** @type {Lane[]} */
const readLanes = [];
const writeLane = new Lane(`${always} PRAGMA foreign_keys=ON; PRAGMA synchronous=${synchronous}`, 0);

function freeReadLane() {
  const free = readLanes.find((lane) => lane.isFree);
  if (free !== undefined) return free;
  const lane = new Lane(`${always} PRAGMA query_only=ON`, readLockWaitMs);
  readLanes.push(lane);
  return lane;
}

/**
 * What is known of a task that runs.
 * @typedef {object} Running
 * @property {Lane} lane
 * @property {NodeJS.Timeout | undefined} timer
 * @property {boolean} isEnded Whether it is to end as soon as possible.
 * @property {boolean} isCommitting Whether it commits or rolls back, which is not given up.
 */

/** @type {Map<number, Running>} */
const running = new Map();
let isStopping = false;

/** @param {Running} task */
function end(task) {
  clearTimeout(task.timer);
  task.isEnded = true;
  if (task.isCommitting) return;
  task.lane.interrupt();
  task.timer = setTimeout(end, interruptEveryMs, task);
}

/** @param {Running} task */
function goOn(task) {
  if (task.isEnded) throw new EndedError();
}

class EndedError extends Error {}

/** @param {Task} task */
async function carryOut({ id, kind, statements, withinMs }) {
  const lane = kind === "read" ? freeReadLane() : writeLane;
  /** @type {Running} */
  const own = { lane, timer: undefined, isEnded: isStopping, isCommitting: false };
  own.timer = setTimeout(end, Math.max(0, withinMs), own);
  lane.isFree = false;
  running.set(id, own);
  /** @type {TaskAnswer} */
  let answer;
  try {
    goOn(own);
    const results = kind === "read" ? await read(own, statements) : await write(own, kind, statements);
    answer = { id, outcome: "done", results };
  } catch (error) {
    answer = own.isEnded ? { id, outcome: "ended" } : { id, outcome: "failed", ...failureOf(error) };
  }
  clearTimeout(own.timer);
  running.delete(id);
  // A migration changes settings of its connection, and the schema that statements were made for.
  if (kind === "migration") lane.close();
  else lane.closeIfUsedUp();
  lane.isFree = true;
  parentPort?.postMessage(answer);
  countPassed(answer);
  if (isStopping) stopWhenIdle();
}

/** After so many characters of results, their memory is freed: otherwise hundreds of megabytes would gather. */
const passedMax = 16_777_216;
let passed = 0;

/** @param {TaskAnswer} answer */
function countPassed(answer) {
  if (answer.outcome !== "done") return;
  for (const { rows } of answer.results)
    for (const row of rows) for (const value of row) if (typeof value === "string") passed += value.length;
  if (passed < passedMax) return;
  passed = 0;
  collectGarbage();
}

/** @param {unknown} error */
function failureOf(error) {
  const { message, code, rawCode } = /** @type {Error & { code?: string, rawCode?: number }} */ (error);
  return { message, code, rawCode };
}

/** @param {Running} own @param {Task["statements"]} statements */
async function read(own, statements) {
  const results = [];
  for (const { sql, params } of statements) {
    goOn(own);
    // Materialised, so that all rows are there after the first step.
    const rows = await own.lane.run(`WITH _r AS MATERIALIZED (${sql}\n) SELECT * FROM _r`, params);
    results.push({ rows, rowsWritten: 0 });
  }
  return results;
}

/** @param {Running} own @param {"batch" | "migration"} kind @param {Task["statements"]} statements */
async function write(own, kind, statements) {
  const { lane } = own;
  if (kind === "migration") await lane.exec("PRAGMA foreign_keys=OFF");
  await lane.exec("BEGIN IMMEDIATE");
  try {
    const results = [];
    let before = await totalChanges(lane);
    let mayBuffer = false;
    for (const { sql, params } of statements) {
      goOn(own);
      // Run, it would stay open, and COMMIT would wait for it. It only has to compile.
      if (sql.startsWith("EXPLAIN ")) {
        await lane.compile(sql);
        results.push({ rows: [], rowsWritten: 0 });
        continue;
      }
      const isRead = sql.startsWith("SELECT ");
      // For the reasons that Connection.write gives.
      if (mayBuffer && !isRead) {
        await lane.exec("SAVEPOINT flushed; RELEASE flushed");
        before = await totalChanges(lane);
      }
      const rows = await lane.run(sql, params);
      const after = isRead ? before : await totalChanges(lane);
      results.push({ rows, rowsWritten: after - before });
      mayBuffer = after - before > 1 || (mayBuffer && isRead);
      before = after;
    }
    goOn(own);
    own.isCommitting = true;
    await lane.exec("COMMIT");
    return results;
  } catch (error) {
    own.isCommitting = true;
    // An interrupt has rolled everything back already, and then this fails. A new connection has no transaction open.
    await lane.exec("ROLLBACK").catch(() => lane.close());
    throw error;
  }
}

/** @param {Lane} lane */
async function totalChanges(lane) {
  const [[total]] = await lane.run("SELECT total_changes()", []);
  return Number(total);
}

function stopWhenIdle() {
  if (running.size > 0) return;
  for (const lane of [...readLanes, writeLane]) lane.close();
  // A port of Deno has no such function.
  if (parentPort?.close) parentPort.close();
  else Reflect.get(globalThis, "close")?.();
}

parentPort?.on("message", (/** @type {Task | "stop"} */ message) => {
  if (message !== "stop") {
    void carryOut(message);
    return;
  }
  isStopping = true;
  for (const task of running.values()) end(task);
  stopWhenIdle();
});
