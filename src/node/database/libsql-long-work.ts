import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import Libsql from "libsql";
import {
  DeadlineError,
  type LongWork,
  OutcomeUnknownError,
  type Result,
  type Statement,
  UnavailableError,
} from "../../platform/database.js";
import { checkParams, countPlaceholders } from "../../platform/statement-text.js";
import { fromNative, type NativeRow } from "./native-rows.js";
import { Turns } from "./turns.js";

/** Which database the thread for long work opens, and how. */
export interface ThreadOptions {
  /** The absolute path of the database. */
  readonly path: string;
  readonly synchronous: "full" | "normal";
}

/**
 * The database's log of writes (the WAL), as the thread for long work sees it. SQLite cannot start writing the log from
 * its beginning again while a read still needs a part of it. So if one long read always followed another, the log would
 * grow without end.
 */
export interface LogOfDatabase {
  /**
   * How many bytes the log has. It is 0 where another server is the one that moves the log into the database file, as
   * this one then has nothing to do.
   */
  bytes(): number;
  /** Moves the database's log into the database file (a checkpoint). */
  shorten(): Promise<void>;
}

/**
 * A task for the thread for long work: statements that are sent to it. Several tasks that read may run at once, but
 * only one that writes.
 */
export interface Task {
  readonly id: number;
  /**
   * How the thread runs the statements, by the method of `Database` that was called: `read` for `query`; `batch` in a
   * transaction that writes; `migration` in one in which foreign keys are not enforced.
   */
  readonly kind: "read" | "batch" | "migration";
  readonly statements: readonly Statement[];
  /** After how many milliseconds the thread interrupts the task's statements. */
  readonly withinMs: number;
}

/** What the thread for long work answers to a task. */
export type TaskAnswer =
  | {
      readonly id: number;
      readonly outcome: "done";
      readonly results: readonly { readonly rows: NativeRow[]; readonly rowsWritten: number }[];
    }
  /** The task's statements were interrupted, at their deadline or because the thread is being stopped. */
  | { readonly id: number; readonly outcome: "ended" }
  | {
      readonly id: number;
      readonly outcome: "failed";
      readonly message: string;
      /** SQLite's name of the error with which the task failed; undefined where the error is not one of SQLite's. */
      readonly code: string | undefined;
      readonly rawCode: number | undefined;
    };

/**
 * How many long reads run at once. With three at least, one caller can have two running and still leave one place to
 * others.
 */
export const readsAtOnce = Math.max(3, availableParallelism());
const waitingMax = 64;
/** Once the database's log (the WAL) has more bytes than this, it is moved into the database file. */
const logBytesMax = 67_108_864;
/**
 * Once the database's log has more bytes than this, new long reads wait, however long, until the running ones have
 * ended and moving the log into the database file has been tried.
 */
const logBytesHardMax = 268_435_456;
/**
 * While the log is to be moved into the database file, new long reads wait for the running ones to end, but only for
 * this many milliseconds. After that they begin all the same, unless the log is over `logBytesHardMax`, and moving it
 * is tried again later.
 */
const pauseMsMax = 2_000;
/**
 * How many milliseconds pass between an attempt to move the database's log into the database file and the next attempt.
 */
const shortenEveryMs = 10_000;

interface Sent {
  readonly kind: Task["kind"];
  readonly resolve: (results: readonly Result[]) => void;
  readonly reject: (reason: unknown) => void;
}

/** A running thread for long work, and the tasks that it was sent and has not answered yet, by their ids. */
interface Running {
  readonly worker: Worker;
  readonly sent: Map<number, Sent>;
  readonly stopped: Promise<void>;
}

/**
 * Runs statements that may take long in a thread with connections of its own, so that the event loop goes on meanwhile.
 * libsql computes the first step of a statement in a thread pool of its own and can interrupt that, but it computes
 * later steps in the thread that asks (`docs/long-work.md`). The thread is started with the first piece of work.
 */
export class LongWorkThread {
  readonly #options: ThreadOptions;
  #running: Running | null = null;
  #lastId = 0;
  readonly #reads = new Turns({ places: readsAtOnce, waitingMax }, () => this.#mayBegin());
  #isWriting = false;
  readonly #log: LogOfDatabase;
  #isShortening = false;
  /**
   * Since when new long reads have been waiting because the database's log is long, as `performance.now()`; null where
   * they begin at once.
   */
  #pausedSinceMs: number | null = null;
  /** When it was last tried to move the database's log into the database, as `performance.now()`. */
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(options: ThreadOptions, log: LogOfDatabase) {
    this.#options = options;
    this.#log = log;
  }

  /**
   * Runs statements that only read, when it is their principal's turn (a user's, an API key's, or that of all who are
   * not signed in). Throws DeadlineError, QueueFullError, UnavailableError where the database is closed or the thread
   * ends, or libsql's own errors.
   */
  async read(statements: readonly Statement[], { principal, isKey, withinMs }: LongWork) {
    const endsAtMs = performance.now() + withinMs;
    const turn = await this.#reads.take({ principal, isKey }, withinMs);
    try {
      return await this.#run("read", statements, endsAtMs - performance.now());
    } finally {
      this.#reads.end(turn);
    }
  }

  /**
   * Whether long reads may begin. When the database's log is over `logBytesMax`, new reads wait until the running ones
   * have ended and moving the log into the database file has been tried. They wait for `pauseMsMax` at most, or, where
   * the log is over `logBytesHardMax`, for as long as that takes. After that they begin freely for `shortenEveryMs`,
   * whatever the log's length. While a long write runs, the log can be moved only after it, and new reads would have to
   * wait for that write; so the log is then left alone up to `logBytesHardMax`.
   */
  #mayBegin(): boolean {
    // After closing, waiting reads may begin, so that they fail at once because the database is closed.
    if (this.#isClosed) return true;
    if (this.#isShortening) return false;
    const nowMs = performance.now();
    const bytes = nowMs - this.#triedAtMs > shortenEveryMs ? this.#log.bytes() : 0;
    if (bytes <= (this.#isWriting ? logBytesHardMax : logBytesMax)) return true;
    if (this.#reads.isIdle) {
      void this.#shortenLog();
      return false;
    }
    if (this.#pausedSinceMs === null) {
      this.#pausedSinceMs = nowMs;
      setTimeout(() => this.#reads.beginNext(), pauseMsMax).unref();
    }
    if (nowMs - this.#pausedSinceMs < pauseMsMax || bytes > logBytesHardMax) return false;
    this.#endPause();
    return true;
  }

  #endPause(): void {
    this.#triedAtMs = performance.now();
    this.#pausedSinceMs = null;
  }

  async #shortenLog(): Promise<void> {
    this.#isShortening = true;
    // A failure to move the log is ignored: the log then stays long, as it does while another program reads, and reads
    // go on all the same.
    await this.#log.shorten().catch(() => {});
    this.#isShortening = false;
    this.#endPause();
    this.#reads.beginNext();
  }

  /**
   * Runs statements in a transaction of their own. Only one write may run at a time, and no other connection of this
   * process may write meanwhile: the caller sees to that. Throws DeadlineError, UnavailableError where the database is
   * closed, OutcomeUnknownError where the thread ends, or libsql's own errors.
   */
  async write(kind: "batch" | "migration", statements: readonly Statement[], withinMs: number) {
    this.#isWriting = true;
    try {
      return await this.#run(kind, statements, withinMs);
    } finally {
      this.#isWriting = false;
    }
  }

  /** Interrupts all long reads and writes, and resolves when the thread has closed its connections. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const running = this.#running;
    running?.worker.ref();
    running?.worker.postMessage("stop");
    await running?.stopped;
    this.#reads.beginNext();
  }

  async #run(kind: Task["kind"], statements: readonly Statement[], withinMs: number) {
    if (this.#isClosed) throw new UnavailableError("the database is closed");
    if (withinMs <= 0) throw new DeadlineError("the deadline passed before it began");
    for (const statement of statements) checkParams(statement, countPlaceholders(statement.sql));
    const id = ++this.#lastId;
    this.#running ??= this.#start();
    const { worker, sent } = this.#running;
    return new Promise<readonly Result[]>((resolve, reject) => {
      sent.set(id, { kind, resolve, reject });
      worker.ref();
      // Only the text and the parameters of a statement are sent: its other members may be functions, which cannot be
      // sent to a thread.
      const alone = statements.map(({ sql, params }) => ({ sql, params }));
      worker.postMessage({ id, kind, statements: alone, withinMs } satisfies Task);
    });
  }

  #start(): Running {
    const worker = new Worker(new URL("./libsql-long-work-thread.js", import.meta.url), {
      workerData: this.#options,
    });
    const sent: Running["sent"] = new Map();
    worker.on("message", (answer: TaskAnswer) => {
      this.#answered(sent, answer);
      // A thread without work must not keep the process from ending, unless the thread is being closed, because `close`
      // waits for its end.
      if (sent.size === 0 && !this.#isClosed) worker.unref();
    });
    const stopped = new Promise<void>((resolve) => {
      worker.once("error", (error) => this.#died(worker, sent, error));
      worker.once("exit", () => {
        this.#died(worker, sent, new Error("the thread has ended"));
        resolve();
      });
    });
    return { worker, sent, stopped };
  }

  #answered(sent: Running["sent"], answer: TaskAnswer): void {
    const asked = sent.get(answer.id);
    // The answer to a task that is not waited for any more is ignored. The task has failed already, because its thread
    // was taken for dead before it answered.
    if (asked === undefined) return;
    sent.delete(answer.id);
    switch (answer.outcome) {
      case "done":
        asked.resolve(
          answer.results.map(({ rows, rowsWritten }) => ({ rows: fromNative(rows), rowsWritten })),
        );
        return;
      case "ended":
        asked.reject(
          this.#isClosed
            ? new UnavailableError("the database is being closed")
            : new DeadlineError("the deadline has passed"),
        );
        return;
      case "failed":
        asked.reject(nativeError(answer));
    }
  }

  /**
   * Fails all tasks of a thread that has ended; the next task starts another thread. A read fails with
   * UnavailableError, a write with OutcomeUnknownError, because it may have been committed or not.
   */
  #died(worker: Worker, sent: Running["sent"], cause: Error): void {
    if (this.#running?.worker === worker) this.#running = null;
    for (const { kind, reject } of sent.values()) {
      const ErrorOfKind = kind === "read" ? UnavailableError : OutcomeUnknownError;
      reject(new ErrorOfKind("the thread for long work has ended", { cause }));
    }
    sent.clear();
  }
}

/** Makes an error as libsql throws it from its parts, because errors lose their class on the way between threads. */
function nativeError({ message, code, rawCode }: TaskAnswer & { outcome: "failed" }): Error {
  return code === undefined ? new Error(message) : new Libsql.SqliteError(message, code, rawCode ?? 0);
}
