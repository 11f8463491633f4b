import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { ConstraintError, type Result, type Statement } from "../../platform/database.js";
import { danglingKeys, refuseMoreDanglingKeys } from "../../platform/foreign-key-check.js";
import { backoffMs } from "./backoff.js";
import type { Connection } from "./libsql-connection.js";
import { isBusy, translated } from "./libsql-errors.js";

const groupJobsMax = 64;
/**
 * After how many milliseconds a group of writes commits, even if some of its jobs have not run yet. Reads wait while a
 * group runs, so it must be short.
 */
const groupMsMax = 20;
/** How many groups give each job a savepoint after a job has failed, because another failure is then likely. */
const carefulGroups = 100;
/** How many milliseconds a COMMIT may take in the event loop before it counts as slow. */
const slowCommitMs = 0.5;
/** How many COMMITs after a slow one run in a thread, because they are expected to be slow too. */
const slowCommits = 200;

/** The method of `Database` that was called: `batch`, or `migrate` for a `migration`. */
export type WriteKind = "batch" | "migration";

/** What the queue of writes needs besides its connection. */
export interface WriteSurroundings {
  /** How long a write waits for another process that has locked the database, in milliseconds. */
  readonly lockWaitMs: number;
  /**
   * Whether only the queue uses its connection, so that it can go on in the event loop while the connection commits in
   * a thread.
   */
  readonly readsElsewhere: boolean;
  /** Runs statements in a thread, in a transaction of their own. Throws libsql's own errors. */
  runInThread(kind: WriteKind, statements: readonly Statement[], endsAtMs: number): Promise<readonly Result[]>;
  /** Called after each migration, because prepared statements may not fit the schema any more. */
  schemaChanged(): void;
}

interface Job {
  readonly kind: WriteKind;
  readonly statements: readonly Statement[];
  /** As `performance.now()`. */
  readonly addedAtMs: number;
  /** When a long write is interrupted, as `performance.now()`; null for a short one. */
  readonly endsAtMs: number | null;
  readonly resolve: (results: readonly Result[]) => void;
  readonly reject: (reason: unknown) => void;
  /** Whether the job needs a transaction of its own. */
  readonly alone: boolean;
}

type Outcome = { readonly results: readonly Result[] } | { readonly error: unknown };

/**
 * The writes of a server, which wait for the database's lock here and not inside SQLite, where waiting would block the
 * event loop. Queued writes share one COMMIT, and so one fsync.
 */
export class WriteQueue {
  readonly #writer: Connection;
  readonly #surroundings: WriteSurroundings;
  readonly #queue: Job[] = [];
  /** Other work on the connection, such as a checkpoint. It is done before the waiting writes. */
  readonly #tasks: (() => Promise<void>)[] = [];
  #draining: Promise<void> | undefined;
  /** How many of the next groups give each job a savepoint. */
  #careful = 0;
  /** How many of the next COMMITs run in a thread. */
  #slowCommits = 0;
  /**
   * Since when each attempt to write has found the database locked by another process, as `performance.now()`; null if
   * the last one found it free.
   */
  #busySinceMs: number | null = null;

  constructor(writer: Connection, surroundings: WriteSurroundings) {
    this.#writer = writer;
    this.#surroundings = surroundings;
  }

  /**
   * Runs statements as `Database.batch` or `migrate` do. With `endsAtMs`, a time of `performance.now()`, they run in a
   * thread, and end by then.
   */
  add(kind: WriteKind, statements: readonly Statement[], endsAtMs: number | null): Promise<readonly Result[]> {
    return new Promise((resolve, reject) => {
      const addedAtMs = performance.now();
      const alone = kind !== "batch" || endsAtMs !== null || statements.some(isPragma);
      this.#queue.push({ kind, statements, addedAtMs, endsAtMs, resolve, reject, alone });
      this.#draining ??= this.#drain();
    });
  }

  /** Runs `task` as soon as nothing else uses the writing connection. Throws what `task` throws. */
  doNext(task: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#tasks.push(() => task().then(resolve, reject));
      this.#draining ??= this.#drain();
    });
  }

  /** Resolves when the queue is empty and nothing of it runs; undefined if that is already so. */
  get busy(): Promise<void> | undefined {
    return this.#draining;
  }

  /**
   * Runs the queued jobs in groups that share a COMMIT. Before each group the event loop turns twice, so that writes
   * that arrive from the network together get into the same group, and also writes that arrive while receipts of the
   * answers before are being recorded. If COMMITs run in a thread, one turn is enough.
   */
  async #drain(): Promise<void> {
    let attempt = 0;
    while (this.#queue.length + this.#tasks.length > 0) {
      await nextTurn();
      if (!this.#commitsInThread) await nextTurn();
      while (this.#tasks.length > 0) await this.#tasks.shift()!();
      if (this.#queue.length === 0) continue;
      const group = this.#takeGroup();
      try {
        await this.#run(group);
        this.#busySinceMs = null;
        attempt = 0;
      } catch (error) {
        this.#busySinceMs ??= performance.now();
        this.#queue.unshift(...group);
        this.#rejectOverdue(error, this.#busySinceMs);
        await delay(backoffMs(attempt++));
      }
    }
    this.#draining = undefined;
  }

  #takeGroup(): Job[] {
    const firstAlone = this.#queue.slice(0, groupJobsMax).findIndex((job) => job.alone);
    return this.#queue.splice(0, firstAlone === -1 ? groupJobsMax : Math.max(firstAlone, 1));
  }

  /**
   * Settles each job of a group or puts it into the queue again. Throws only if another process holds the database's
   * lock.
   */
  async #run(group: readonly Job[]): Promise<void> {
    const first = group[0]!;
    const { kind, endsAtMs, statements } = first;
    try {
      if (endsAtMs !== null) first.resolve(await this.#surroundings.runInThread(kind, statements, endsAtMs));
      else if (kind === "migration") await this.#runMigration(first);
      else if (group.length === 1) await this.#runAlone(first, statements);
      else await this.#runTogether(group);
    } catch (error) {
      if (isBusy(error)) throw error;
      rejectAll(group, error);
    }
  }

  /**
   * Rejects the jobs at the head of the queue that have waited for `lockWaitMs` while another process held the lock.
   * The time in which this server's own long writes run does not count.
   */
  #rejectOverdue(error: unknown, busySinceMs: number): void {
    const overdueMs = performance.now() - this.#surroundings.lockWaitMs;
    while (this.#queue[0] && Math.max(this.#queue[0].addedAtMs, busySinceMs) <= overdueMs)
      this.#queue.shift()?.reject(translated(error));
  }

  /** Foreign keys are off meanwhile, which SQLite allows only outside of a transaction. */
  async #runMigration(job: Job): Promise<void> {
    this.#writer.exec("PRAGMA foreign_keys=OFF");
    try {
      const dangling = this.#writer.read(danglingKeys);
      await this.#runAlone(job, [...job.statements, refuseMoreDanglingKeys(dangling)]);
    } finally {
      this.#writer.exec("PRAGMA foreign_keys=ON");
      this.#surroundings.schemaChanged();
    }
  }

  async #runAlone(job: Job, statements: readonly Statement[]): Promise<void> {
    this.#writer.begin();
    try {
      const results = this.#writer.write(statements);
      await this.#commit();
      job.resolve(results);
    } catch (error) {
      this.#writer.rollback();
      job.reject(translated(error));
    }
  }

  /**
   * If the disk is quick, a COMMIT in the event loop takes less time than sending it to a thread. After a slow COMMIT
   * the next `slowCommits` run in a thread; then one runs in the event loop again, to see how long it takes now.
   */
  async #commit(): Promise<void> {
    if (this.#commitsInThread) {
      this.#slowCommits--;
      await this.#writer.commitInThread();
      return;
    }
    const fromMs = performance.now();
    this.#writer.commit();
    if (performance.now() - fromMs > slowCommitMs) this.#slowCommits = slowCommits;
  }

  /**
   * If reads use the same connection, COMMITs run in the event loop, because a connection cannot read while it commits.
   */
  get #commitsInThread(): boolean {
    return this.#surroundings.readsElsewhere && this.#slowCommits > 0;
  }

  /**
   * Runs a group in one transaction, without savepoints, which saves time. After a failure the group starts again with
   * a savepoint for each job.
   */
  async #runTogether(group: readonly Job[]): Promise<void> {
    const endsAtMs = performance.now() + groupMsMax;
    if (this.#careful === 0 && (await this.#runEach(group, endsAtMs, (job) => this.#runPlainly(job)))) return;
    this.#careful--;
    await this.#runEach(group, endsAtMs, (job) => this.#runInSavepoint(job, group));
  }

  /**
   * Runs jobs in one transaction until `endsAtMs`, and commits. Returns false without a commit if `run` returned null,
   * because the transaction has been rolled back.
   */
  async #runEach(group: readonly Job[], endsAtMs: number, run: (job: Job) => Outcome | null): Promise<boolean> {
    this.#writer.begin();
    const outcomes: Outcome[] = [];
    for (const job of group) {
      const outcome = run(job);
      if (outcome === null) return false;
      outcomes.push(outcome);
      if (performance.now() >= endsAtMs) break;
    }
    await this.#commitFirst(group, outcomes);
    return true;
  }

  /** Null if the job failed, and the whole group has been rolled back with it. */
  #runPlainly(job: Job): Outcome | null {
    try {
      return { results: this.#writer.write(job.statements) };
    } catch {
      this.#writer.rollback();
      this.#careful = carefulGroups;
      return null;
    }
  }

  /** Commits the jobs that have run, and puts the others back to the head of the queue. */
  async #commitFirst(group: readonly Job[], outcomes: readonly Outcome[]): Promise<void> {
    this.#queue.unshift(...group.slice(outcomes.length));
    await this.#commitTogether(group.slice(0, outcomes.length), outcomes);
  }

  /**
   * Null if the job made SQLite roll back the whole transaction; every job of the group has then been settled or put
   * into the queue again.
   */
  #runInSavepoint(job: Job, group: readonly Job[]): Outcome | null {
    const outcome = this.#tryInSavepoint(job);
    if (this.#writer.inTransaction) return outcome;
    this.#repeatWithout(job, group, outcome);
    return null;
  }

  #tryInSavepoint(job: Job): Outcome {
    try {
      this.#writer.exec("SAVEPOINT job");
      const results = this.#writer.write(job.statements);
      this.#writer.exec("RELEASE job");
      return { results };
    } catch (error) {
      this.#writer.rollbackToSavepoint();
      return { error };
    }
  }

  /**
   * Settles a job that made SQLite roll back the whole transaction, as a full disk or a `RAISE(ROLLBACK)` does. The
   * group's other jobs run again, each in a transaction of its own, so that a job that does the same harms no other.
   */
  #repeatWithout(failed: Job, group: readonly Job[], outcome: Outcome): void {
    settle(failed, outcome);
    this.#repeatAlone(group.filter((job) => job !== failed));
  }

  #repeatAlone(jobs: readonly Job[]): void {
    this.#queue.unshift(...jobs.map((job) => ({ ...job, alone: true })));
  }

  /**
   * Commits, and settles the jobs only after that. Failed jobs wait for the commit, too: a job may have failed because
   * of a conflict with another job of the group, and if that job's work is not committed, there was no conflict.
   */
  async #commitTogether(jobs: readonly Job[], outcomes: readonly Outcome[]): Promise<void> {
    try {
      await this.#commit();
    } catch (error) {
      this.#writer.rollback();
      // A deferred foreign key fails only at the COMMIT, and the error does not tell which job violated it.
      if (translated(error) instanceof ConstraintError) this.#repeatAlone(jobs);
      else rejectAll(jobs, error);
      return;
    }
    jobs.forEach((job, index) => {
      settle(job, outcomes[index]!);
    });
  }
}

/** A pragma such as `defer_foreign_keys` is in effect until the COMMIT, so its job must not share a transaction. */
function isPragma(statement: Statement): boolean {
  return statement.sql.startsWith("PRAGMA ");
}

function settle(job: Job, outcome: Outcome): void {
  if ("results" in outcome) job.resolve(outcome.results);
  else job.reject(translated(outcome.error));
}

function rejectAll(jobs: readonly Job[], error: unknown): void {
  for (const job of jobs) job.reject(translated(error));
}
