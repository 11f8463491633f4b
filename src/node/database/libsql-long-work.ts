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
import { FreedResults } from "./freed-results.js";
import { fromNative, type NativeRow } from "./native-rows.js";
import { Turns } from "./turns.js";

/** Which database the thread for long work opens, and how. */
export interface ThreadOptions {
  /** Absolute. */
  readonly path: string;
  readonly synchronous: "full" | "normal";
}

/**
 * The WAL, as the thread for long work sees it. SQLite cannot start writing it from its beginning again while a read
 * still needs a part of it. So if one long read always followed another, the WAL would grow without end.
 */
export interface LogOfDatabase {
  /** 0 if another server is the one that checkpoints, as this one then has nothing to do. */
  bytes(): number;
  /** Checkpoints. */
  shorten(): Promise<void>;
}

/** Statements for the thread for long work. Several tasks that read may run at once, but only one that writes. */
export interface Task {
  readonly id: number;
  /**
   * `read` for `query`; `batch` in a transaction that writes; `migration` in one in which foreign keys are not
   * enforced.
   */
  readonly kind: "read" | "batch" | "migration";
  readonly statements: readonly Statement[];
  /** After how many milliseconds the statements are interrupted. */
  readonly withinMs: number;
}

/** What the thread for long work answers to a task. */
export type TaskAnswer =
  | {
      readonly id: number;
      readonly outcome: "done";
      readonly results: readonly { readonly rows: NativeRow[]; readonly rowsWritten: number }[];
    }
  /** The statements were interrupted, at their deadline or because the thread is being stopped. */
  | { readonly id: number; readonly outcome: "ended" }
  | {
      readonly id: number;
      readonly outcome: "failed";
      readonly message: string;
      /** SQLite's name of the error; undefined if it is not one of SQLite's. */
      readonly code: string | undefined;
      readonly rawCode: number | undefined;
    };

/**
 * How many long reads run at once. With three at least, one caller can have two running and still leave one place to
 * others.
 */
export const readsAtOnce = Math.max(3, availableParallelism());
const waitingMax = 64;
/** The WAL is moved into the database file once it has more bytes than this. */
const logBytesMax = 67_108_864;
/**
 * Once the WAL has more bytes than this, new long reads wait, however long, until the running ones have ended and a
 * checkpoint has been tried.
 */
const logBytesHardMax = 268_435_456;
/**
 * For how long new long reads wait at most for a checkpoint, unless the WAL is over `logBytesHardMax`. After that they
 * begin all the same, and the checkpoint is tried again later.
 */
const pauseMsMax = 2_000;
/** The time between two attempts to checkpoint. */
const shortenEveryMs = 10_000;

interface SentTask {
  readonly kind: Task["kind"];
  readonly resolve: (results: readonly Result[]) => void;
  readonly reject: (reason: unknown) => void;
}

/** A running thread, and the tasks that it has not answered yet, by their ids. */
interface Running {
  readonly worker: Worker;
  readonly sent: Map<number, SentTask>;
  readonly stopped: Promise<void>;
}

/**
 * Runs statements that may take long in a thread with connections of its own, so that the event loop goes on meanwhile.
 * libsql computes the first step of a statement in a thread pool of its own and can interrupt that, but it computes
 * later steps in the thread that asks (`docs/long-work.md`). The thread starts with the first piece of work.
 */
export class LongWorkThread {
  readonly #options: ThreadOptions;
  #running: Running | null = null;
  #lastId = 0;
  readonly #reads = new Turns({ places: readsAtOnce, waitingMax }, () => this.#mayBegin());
  #isWriting = false;
  readonly #freed = new FreedResults();
  readonly #log: LogOfDatabase;
  #isShortening = false;
  /** Since when new long reads wait because the WAL is long, as `performance.now()`. */
  #pausedSinceMs: number | null = null;
  /** When a checkpoint was last tried, as `performance.now()`. */
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(options: ThreadOptions, log: LogOfDatabase) {
    this.#options = options;
    this.#log = log;
  }

  /**
   * Runs statements that only read, when it is their principal's turn. Throws DeadlineError, QueueFullError,
   * UnavailableError if the database is closed or the thread ends, or libsql's own errors.
   */
  async read(statements: readonly Statement[], { withinMs, ...who }: LongWork) {
    const endsAtMs = performance.now() + withinMs;
    const turn = await this.#reads.take(who, withinMs);
    try {
      return await this.#run("read", statements, endsAtMs - performance.now());
    } finally {
      this.#reads.end(turn);
    }
  }

  /**
   * Whether long reads may begin. When the WAL is over `logBytesMax`, new reads wait until the running ones have ended
   * and a checkpoint has been tried, for `pauseMsMax` at most, or, if the WAL is over `logBytesHardMax`, for as long as
   * that takes. After that they begin freely for `shortenEveryMs`, whatever the WAL's length. While a long write runs,
   * a checkpoint, and with it new reads, would have to wait for that write; so the WAL is then left alone up to
   * `logBytesHardMax`.
   */
  #mayBegin(): boolean {
    // After closing, waiting reads begin and fail at once.
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
    // After a failure the WAL stays long, as it does while another program reads, and reads go on all the same.
    await this.#log.shorten().catch(() => {});
    this.#isShortening = false;
    this.#endPause();
    this.#reads.beginNext();
  }

  /**
   * Runs statements in a transaction of their own. The caller sees to it that only one write runs at a time, and that
   * no other connection of this process writes meanwhile. Throws DeadlineError, UnavailableError if the database is
   * closed, OutcomeUnknownError if the thread ends, or libsql's own errors.
   */
  async write(kind: "batch" | "migration", statements: readonly Statement[], withinMs: number) {
    this.#isWriting = true;
    try {
      return await this.#run(kind, statements, withinMs);
    } finally {
      this.#isWriting = false;
    }
  }

  /** Interrupts all long work, and resolves when the thread has closed its connections. */
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
      // A statement's other members may be functions, which cannot be sent to a thread.
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
      // A thread without work must not keep the process from ending, but `close` waits for the end of the thread.
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
    // The task has failed already, because its thread was taken for dead before it answered.
    if (asked === undefined) return;
    sent.delete(answer.id);
    switch (answer.outcome) {
      case "done":
        for (const { rows } of answer.results) this.#freed.count(rows);
        asked.resolve(answer.results.map(({ rows, rowsWritten }) => ({ rows: fromNative(rows), rowsWritten })));
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
   * Fails all tasks of a thread that has ended; the next task starts another thread. A write fails with
   * OutcomeUnknownError, because it may have been committed or not.
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

/** Makes libsql's error from its parts, because errors lose their class on the way between threads. */
function nativeError({ message, code, rawCode }: TaskAnswer & { outcome: "failed" }): Error {
  return code === undefined ? new Error(message) : new Libsql.SqliteError(message, code, rawCode ?? 0);
}
