import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import Libsql from "libsql";
import {
  DeadlineError,
  type LongWork,
  QueueFullError,
  type Result,
  type Statement,
  UnavailableError,
} from "../platform/database.js";
import { checkParams, countPlaceholders } from "../platform/statement-text.js";
import { FairQueue, type Waiting } from "./fair-queue.js";
import { fromNative, type NativeRow } from "./native-rows.js";

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
  /** Whether it has grown so long that it has to be moved into the database. */
  isLong(): boolean;
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
/** How often the log is shortened at most. */
const shortenEveryMs = 10_000;

interface Sent {
  readonly resolve: (results: readonly Result[]) => void;
  readonly reject: (reason: unknown) => void;
}

interface WaitingRead extends Waiting {
  readonly start: () => void;
}

/**
 * Runs what may take long in a thread with connections of its own, so that the event loop goes on meanwhile. libsql
 * computes the first step of a statement in a thread pool of its own and can interrupt that, but it computes later
 * steps in the thread that asks (`docs/long-work.md`). The thread is started with the first piece of work.
 */
export class LongWorkThread {
  readonly #options: ThreadOptions;
  #worker: Worker | null = null;
  #stopped: Promise<unknown> = Promise.resolve();
  readonly #sent = new Map<number, Sent>();
  #lastId = 0;
  readonly #queue = new FairQueue<WaitingRead>({ places: readsAtOnce, waitingMax });
  readonly #log: LogOfDatabase;
  #isShortening = false;
  /** When the log was shortened last, as `performance.now()`. */
  #shortenedAtMs = Number.NEGATIVE_INFINITY;
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
    const work = await this.#turn({ principal, isKey }, withinMs);
    try {
      return await this.#run("read", statements, endsAtMs - performance.now());
    } finally {
      this.#queue.done(work);
      this.#startNext();
    }
  }

  /** Waits until work may run. Returns it as the queue knows it. */
  #turn(waiting: Waiting, withinMs: number): Promise<WaitingRead> {
    return new Promise((resolve, reject) => {
      const work: WaitingRead = {
        ...waiting,
        start: () => {
          clearTimeout(timer);
          resolve(work);
        },
      };
      const giveUp = () => {
        if (this.#queue.remove(work)) reject(new DeadlineError("the deadline passed before its turn came"));
      };
      if (!this.#queue.add(work)) {
        reject(new QueueFullError("too many long reads wait already"));
        return;
      }
      const timer = setTimeout(giveUp, withinMs);
      this.#startNext();
    });
  }

  /** Where the log has grown long, no read begins until those that run have ended and the log is short again. */
  #startNext(): void {
    if (this.#isShortening) return;
    if (performance.now() - this.#shortenedAtMs > shortenEveryMs && this.#log.isLong()) {
      if (this.#queue.isIdle) void this.#shortenLog();
      return;
    }
    for (let next = this.#queue.next(); next !== undefined; next = this.#queue.next()) next.start();
  }

  async #shortenLog(): Promise<void> {
    this.#isShortening = true;
    // Where it fails, or another program reads, the log stays long, and the reads go on all the same.
    await this.#log.shorten().catch(() => {});
    this.#isShortening = false;
    this.#shortenedAtMs = performance.now();
    this.#startNext();
  }

  /**
   * Runs statements in a transaction of their own. Only one write may run at a time, and no other connection of this
   * process may write meanwhile. Throws DeadlineError, or libsql's own errors.
   */
  write(kind: "batch" | "migration", statements: readonly Statement[], withinMs: number) {
    return this.#run(kind, statements, withinMs);
  }

  /** Interrupts everything, and resolves when the thread has closed its connections. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#worker?.ref();
    this.#worker?.postMessage("stop");
    await this.#stopped;
  }

  async #run(kind: Task["kind"], statements: readonly Statement[], withinMs: number) {
    if (this.#isClosed) throw new UnavailableError("the database is closed");
    for (const statement of statements) checkParams(statement, countPlaceholders(statement.sql));
    const id = ++this.#lastId;
    const worker = this.#worker ?? this.#start();
    return new Promise<readonly Result[]>((resolve, reject) => {
      this.#sent.set(id, { resolve, reject });
      worker.ref();
      worker.postMessage({ id, kind, statements, withinMs } satisfies Task);
    });
  }

  #start(): Worker {
    const worker = new Worker(new URL("./libsql-long-work-thread.js", import.meta.url), {
      workerData: this.#options,
    });
    worker.on("message", (answer: TaskAnswer) => this.#answered(answer));
    this.#stopped = new Promise<void>((resolve) => {
      worker.once("error", (error) => this.#died(error));
      worker.once("exit", () => {
        this.#died(new Error("the thread has ended"));
        resolve();
      });
    });
    this.#worker = worker;
    return worker;
  }

  #answered(answer: TaskAnswer): void {
    const { resolve, reject } = this.#sent.get(answer.id)!;
    this.#sent.delete(answer.id);
    // The process may end while the thread has nothing to do.
    if (this.#sent.size === 0) this.#worker?.unref();
    switch (answer.outcome) {
      case "done":
        resolve(answer.results.map(({ rows, rowsWritten }) => ({ rows: fromNative(rows), rowsWritten })));
        return;
      case "ended":
        reject(
          this.#isClosed
            ? new UnavailableError("the database is being closed")
            : new DeadlineError("the deadline has passed"),
        );
        return;
      case "failed":
        reject(nativeError(answer));
    }
  }

  /** After that, the next piece of work starts another thread. */
  #died(cause: Error): void {
    this.#worker = null;
    for (const { reject } of this.#sent.values())
      reject(new UnavailableError("the thread for long work has ended", { cause }));
    this.#sent.clear();
  }
}

/** An error as libsql throws it, from its parts, because errors lose their class on the way between threads. */
function nativeError({ message, code, rawCode }: TaskAnswer & { outcome: "failed" }): Error {
  return code === undefined ? new Error(message) : new Libsql.SqliteError(message, code, rawCode ?? 0);
}
