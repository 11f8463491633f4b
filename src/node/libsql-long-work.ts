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
} from "../platform/database.js";
import { checkParams, countPlaceholders } from "../platform/statement-text.js";
import { fromNative, type NativeRow } from "./native-rows.js";
import { Turns } from "./turns.js";

/** What the thread is started with. */
export interface ThreadOptions {
  /** The absolute path of the database. */
  readonly path: string;
  readonly synchronous: "full" | "normal";
}

/**
 * The database's log (WAL). SQLite cannot begin it anew while a read still needs a part of it, so with one long read
 * after the other it would grow without end.
 */
export interface LogOfDatabase {
  /** How many bytes it has; 0 where it is not for this server to move it. */
  bytes(): number;
  /** Moves it into the database. */
  shorten(): Promise<void>;
}

/** Statements for the thread. Reads run side by side; of the other kinds, one at a time is sent. */
export interface Task {
  readonly id: number;
  /** As the methods of `Database`: a migration without foreign keys enforced. */
  readonly kind: "read" | "batch" | "migration";
  readonly statements: readonly Statement[];
  /** Milliseconds until it is interrupted. */
  readonly withinMs: number;
}

/** What the thread answers to a task. */
export type TaskAnswer =
  | {
      readonly id: number;
      readonly outcome: "done";
      readonly results: readonly { readonly rows: NativeRow[]; readonly rowsWritten: number }[];
    }
  /** Interrupted at its deadline, or because the thread stops. */
  | { readonly id: number; readonly outcome: "ended" }
  | {
      readonly id: number;
      readonly outcome: "failed";
      readonly message: string;
      /** SQLite's codes, where the error comes from there. */
      readonly code: string | undefined;
      readonly rawCode: number | undefined;
    };

/** How many long reads run at once. With three, one principal can have two and still leave one. */
export const readsAtOnce = Math.max(3, availableParallelism());
const waitingMax = 64;
/** From how many bytes on the log is moved into the database. */
const logBytesMax = 67_108_864;
/** And from how many on that does not wait any longer for a better moment. */
const logBytesHardMax = 268_435_456;
/** How long reads are kept from beginning at most, while others still run. */
const pauseMsMax = 2_000;
/** How often it is tried at most. */
const shortenEveryMs = 10_000;

interface Sent {
  readonly kind: Task["kind"];
  readonly resolve: (results: readonly Result[]) => void;
  readonly reject: (reason: unknown) => void;
}

/** A thread that has been started, and what it was sent and has not answered. */
interface Running {
  readonly worker: Worker;
  readonly sent: Map<number, Sent>;
  readonly stopped: Promise<void>;
}

/**
 * Runs what may take long in a thread with connections of its own, so that the event loop goes on meanwhile. libsql
 * computes the first step of a statement in a thread pool of its own and can interrupt that, but it computes later
 * steps in the thread that asks (`docs/long-work.md`). The thread is started with the first piece of work.
 */
export class LongWorkThread {
  readonly #options: ThreadOptions;
  #running: Running | null = null;
  #lastId = 0;
  readonly #reads = new Turns({ places: readsAtOnce, waitingMax }, () => this.#mayBegin());
  #isWriting = false;
  readonly #log: LogOfDatabase;
  #isShortening = false;
  /** Since when no read begins because the log is long; null where reads begin. As `performance.now()`. */
  #pausedSinceMs: number | null = null;
  /** When it was last tried to shorten the log. */
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(options: ThreadOptions, log: LogOfDatabase) {
    this.#options = options;
    this.#log = log;
  }

  /**
   * Runs statements that only read, when it is the principal's turn. Throws DeadlineError, QueueFullError, or libsql's
   * own errors.
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
   * Where the log has grown long, no read begins until those that run have ended and the log is short again: for a
   * moment, or, where the log is very long, for as long as that takes. While a long write runs, to shorten the log would
   * wait for it, and reads with that.
   */
  #mayBegin(): boolean {
    // What waits is then begun, and refused.
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
    // Where it fails, or another program reads, the log stays long, and the reads go on all the same.
    await this.#log.shorten().catch(() => {});
    this.#isShortening = false;
    this.#endPause();
    this.#reads.beginNext();
  }

  /**
   * Runs statements in a transaction of their own. Only one write may run at a time, and no other connection of this
   * process may write meanwhile. Throws DeadlineError, OutcomeUnknownError where the thread ends, or libsql's own errors.
   */
  async write(kind: "batch" | "migration", statements: readonly Statement[], withinMs: number) {
    this.#isWriting = true;
    try {
      return await this.#run(kind, statements, withinMs);
    } finally {
      this.#isWriting = false;
    }
  }

  /** Interrupts everything, and resolves when the thread has closed its connections. */
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
      worker.postMessage({ id, kind, statements, withinMs } satisfies Task);
    });
  }

  #start(): Running {
    const worker = new Worker(new URL("./libsql-long-work-thread.js", import.meta.url), {
      workerData: this.#options,
    });
    const sent: Running["sent"] = new Map();
    worker.on("message", (answer: TaskAnswer) => {
      this.#answered(sent, answer);
      // The process may end while the thread has nothing to do; but closing waits for the thread.
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
    // The thread has been given up.
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

  /** The next piece of work starts another thread. Whether a write had committed, nobody can tell. */
  #died(worker: Worker, sent: Running["sent"], cause: Error): void {
    if (this.#running?.worker === worker) this.#running = null;
    for (const { kind, reject } of sent.values()) {
      const ErrorOfKind = kind === "read" ? UnavailableError : OutcomeUnknownError;
      reject(new ErrorOfKind("the thread for long work has ended", { cause }));
    }
    sent.clear();
  }
}

/** An error as libsql throws it, from its parts, because errors lose their class on the way between threads. */
function nativeError({ message, code, rawCode }: TaskAnswer & { outcome: "failed" }): Error {
  return code === undefined ? new Error(message) : new Libsql.SqliteError(message, code, rawCode ?? 0);
}
