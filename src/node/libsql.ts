import { resolve as resolvePath } from "node:path";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import {
  ConstraintError,
  type Database,
  type LongWork,
  type Result,
  type Statement,
  UnavailableError,
} from "../platform/database.js";
import { danglingKeys, refuseMoreDanglingKeys } from "../platform/foreign-key-check.js";
import { type Connection, type LibsqlOptions, openConnection } from "./libsql-connection.js";
import { isBusy, translated } from "./libsql-errors.js";
import { LongWorkThread } from "./libsql-long-work.js";

/** Opens an embedded SQLite database. Throws UnavailableError when the file is locked or is not a database. */
export function openLibsql(options: LibsqlOptions): EmbeddedDatabase {
  return new LibsqlDatabase(options);
}

/** An embedded database, whose server may come to hold the file's lock later than it has opened it. */
export interface EmbeddedDatabase extends Database {
  /** From now on this is the one connection that checkpoints. */
  startCheckpoints(): void;
}

/** How long a write, or a read that finds the database locked, waits for another process. */
const lockWaitMs = 4000;
const groupJobsMax = 64;
/** A group commits after this time even if it has jobs left, because reads wait meanwhile. */
const groupMsMax = 20;
/** After a failed job, this many groups use savepoints, because another failure is likely. */
const carefulGroups = 100;
/** A COMMIT that takes longer is slow, */
const slowCommitMs = 0.5;
/** and so many after it are expected to be slow too. */
const slowCommits = 200;

interface Job {
  readonly kind: "batch" | "migration";
  readonly statements: readonly Statement[];
  readonly giveUpAtMs: number;
  /** When it ends at the latest, for work that may take long; null for other work. */
  readonly endsAtMs: number | null;
  readonly resolve: (results: readonly Result[]) => void;
  readonly reject: (reason: unknown) => void;
  /** Whether it has to run in a transaction of its own. */
  readonly alone: boolean;
}

type Outcome = { readonly results: readonly Result[] } | { readonly error: unknown };

/**
 * Writes wait for a lock in a queue of this process and not inside SQLite, where waiting would block the event loop.
 * Queued writes share one COMMIT, and so one fsync. On a file, a server has a second connection for reads, because a
 * connection cannot be used while it commits, and a thread for what may take long. Elsewhere a transaction begins and
 * ends within one turn of the event loop, so reads on the same connection see only committed states.
 */
class LibsqlDatabase implements EmbeddedDatabase {
  readonly foreignKeysStayOn = false;
  /** Far below the maximum length of a JavaScript string, with room for JSON escaping. */
  readonly answerBytesMax = 33_554_432;
  readonly runsBeside: boolean;
  readonly #writer: Connection;
  /** The same as `#writer` where there is no second connection. */
  readonly #reader: Connection;
  readonly #thread: LongWorkThread | null;
  readonly #lockWaitMs: number;
  #checkpoints: boolean;
  readonly #queue: Job[] = [];
  #draining: Promise<void> | undefined;
  /** How many more groups give each job a savepoint. */
  #careful = 0;
  /** How many more commits run beside the event loop. */
  #slowCommits = 0;
  #closing: Promise<void> | undefined;

  constructor(options: LibsqlOptions) {
    const { path, synchronous, commandLine = false, checkpoints = !commandLine } = options;
    this.runsBeside = !commandLine && path !== ":memory:";
    this.#writer = openConnection(options);
    this.#reader = this.runsBeside ? openConnection({ path, synchronous, readsOnly: true }) : this.#writer;
    this.#thread = this.runsBeside ? new LongWorkThread({ path: resolvePath(path), synchronous }) : null;
    this.#lockWaitMs = commandLine ? 0 : lockWaitMs;
    this.#checkpoints = checkpoints;
  }

  startCheckpoints(): void {
    this.#assertOpen();
    this.#checkpoints = true;
    if (this.#draining === undefined) this.#writer.startCheckpoints();
    // The writing connection may be committing.
    else void this.#draining.then(() => this.#closing ?? this.#writer.startCheckpoints());
  }

  async query(statements: readonly Statement[], long?: LongWork): Promise<readonly Result[]> {
    const thread = this.#thread;
    return this.#whenFree(() =>
      long === undefined || thread === null
        ? statements.map((statement) => this.#reader.read(statement))
        : this.#besidePlans(statements, (others) => thread.read(others, long)),
    );
  }

  /** Does `work`, and again while another process has the lock. */
  async #whenFree<T>(work: () => T | Promise<T>): Promise<T> {
    let giveUpAtMs: number | undefined;
    for (let attempt = 0; ; attempt++) {
      this.#assertOpen();
      try {
        return await work();
      } catch (error) {
        giveUpAtMs ??= performance.now() + this.#lockWaitMs;
        if (!isBusy(error) || performance.now() >= giveUpAtMs) throw translated(error);
      }
      await delay(backoffMs(attempt));
    }
  }

  /**
   * The results of statements of which `run` runs all but the questions for query plans. Those are asked at once, and
   * libsql would leave them open in the thread.
   */
  async #besidePlans(
    statements: readonly Statement[],
    run: (others: readonly Statement[]) => Promise<readonly Result[]>,
  ): Promise<readonly Result[]> {
    const isQuestion = ({ sql }: Statement) => sql.startsWith("EXPLAIN ");
    const results = (await run(statements.filter((statement) => !isQuestion(statement)))).values();
    return statements.map((statement) =>
      isQuestion(statement) ? this.#reader.read(statement) : results.next().value!,
    );
  }

  async batch(statements: readonly Statement[], long?: LongWork): Promise<readonly Result[]> {
    return await this.#enqueue("batch", statements, long);
  }

  async migrate(statements: readonly Statement[], long?: LongWork): Promise<void> {
    await this.#enqueue("migration", statements, long);
  }

  async close(): Promise<void> {
    this.#closing ??= this.#finish();
    await this.#closing;
  }

  async #finish(): Promise<void> {
    await Promise.all([this.#draining, this.#thread?.close()]);
    if (this.#reader !== this.#writer) this.#reader.close();
    if (this.#checkpoints) this.#writer.tryCheckpoint();
    this.#writer.close();
  }

  // Needed because libsql aborts the process when a closed database is used.
  #assertOpen(): void {
    if (this.#closing) throw new UnavailableError("the database is closed");
  }

  #enqueue(
    kind: Job["kind"],
    statements: readonly Statement[],
    long: LongWork | undefined,
  ): Promise<readonly Result[]> {
    this.#assertOpen();
    return new Promise((resolve, reject) => {
      const nowMs = performance.now();
      const giveUpAtMs = nowMs + this.#lockWaitMs;
      const endsAtMs = this.#thread !== null && long ? nowMs + long.withinMs : null;
      const alone = kind === "migration" || endsAtMs !== null || statements.some(isPragma);
      this.#queue.push({ kind, statements, giveUpAtMs, endsAtMs, resolve, reject, alone });
      this.#draining ??= this.#drain();
    });
  }

  /**
   * Runs the queued jobs, a group every second turn of the event loop. Writes that arrive from the network together
   * then share a COMMIT, also with those that arrive while receipts of the previous answers are being recorded. After a
   * COMMIT beside the event loop, one turn less has the same effect.
   */
  async #drain(): Promise<void> {
    let attempt = 0;
    while (this.#queue.length > 0) {
      await nextTurn();
      if (!this.#commitsBeside) await nextTurn();
      const group = this.#takeGroup();
      try {
        await this.#run(group);
        attempt = 0;
      } catch (error) {
        this.#queue.unshift(...group);
        this.#rejectOverdue(error);
        await delay(backoffMs(attempt++));
      }
    }
    this.#draining = undefined;
  }

  #takeGroup(): Job[] {
    const firstAlone = this.#queue.slice(0, groupJobsMax).findIndex((job) => job.alone);
    return this.#queue.splice(0, firstAlone === -1 ? groupJobsMax : Math.max(firstAlone, 1));
  }

  /** Settles every job of the group or queues it again. Throws only when another process holds the lock. */
  async #run(group: readonly Job[]): Promise<void> {
    try {
      const [first] = group;
      if (first && first.endsAtMs !== null) await this.#runInThread(first, first.endsAtMs);
      else if (first?.kind === "migration") await this.#runMigration(first);
      else if (first && group.length === 1) await this.#runAlone(first, first.statements);
      else await this.#runTogether(group);
    } catch (error) {
      if (isBusy(error)) throw error;
      rejectAll(group, error);
    }
  }

  #rejectOverdue(error: unknown): void {
    const nowMs = performance.now();
    while (this.#queue[0] && this.#queue[0].giveUpAtMs <= nowMs) {
      this.#queue.shift()?.reject(translated(error));
    }
  }

  /** No other write runs meanwhile, because SQLite has one writer at a time. */
  async #runInThread(job: Job, endsAtMs: number): Promise<void> {
    const thread = this.#thread!;
    const run = (kind: Job["kind"], statements: readonly Statement[]) =>
      thread.write(kind, statements, endsAtMs - performance.now());
    try {
      if (job.kind === "migration") {
        const [dangling] = await run("batch", [danglingKeys]);
        await run("migration", [...job.statements, refuseMoreDanglingKeys(dangling!)]);
        this.#forgetStatements();
        job.resolve([]);
      } else job.resolve(await this.#besidePlans(job.statements, (others) => run("batch", others)));
    } catch (error) {
      if (isBusy(error)) throw error;
      job.reject(translated(error));
    }
  }

  /** Switches foreign keys off meanwhile, which SQLite only allows outside a transaction. */
  async #runMigration(job: Job): Promise<void> {
    this.#writer.exec("PRAGMA foreign_keys=OFF");
    try {
      const dangling = this.#writer.read(danglingKeys);
      await this.#runAlone(job, [...job.statements, refuseMoreDanglingKeys(dangling)]);
    } finally {
      this.#writer.exec("PRAGMA foreign_keys=ON");
      this.#forgetStatements();
    }
  }

  #forgetStatements(): void {
    this.#writer.forgetStatements();
    this.#reader.forgetStatements();
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
   * Where the disk is quick, a COMMIT takes less time than the way to a thread and back. After a slow one the next ones
   * run beside the event loop, until another try shows how long it takes now.
   */
  async #commit(): Promise<void> {
    if (this.#commitsBeside) {
      this.#slowCommits--;
      await this.#writer.commitBeside();
      return;
    }
    const fromMs = performance.now();
    this.#writer.commit();
    if (performance.now() - fromMs > slowCommitMs) this.#slowCommits = slowCommits;
  }

  /** Where reads use the same connection, they must not find it committing. */
  get #commitsBeside(): boolean {
    return this.runsBeside && this.#slowCommits > 0;
  }

  /**
   * Runs the jobs in one transaction. As long as no job fails they have no savepoints, which saves time; after a
   * failure the group starts again with a savepoint for each.
   */
  async #runTogether(group: readonly Job[]): Promise<void> {
    const endsAtMs = performance.now() + groupMsMax;
    if (this.#careful === 0 && (await this.#runEach(group, endsAtMs, (job) => this.#runPlainly(job)))) return;
    this.#careful--;
    await this.#runEach(group, endsAtMs, (job) => this.#runInSavepoint(job, group));
  }

  /**
   * Runs jobs in one transaction until the time is up, and commits. False where `run` returned null, because the
   * transaction has been rolled back.
   */
  async #runEach(
    group: readonly Job[],
    endsAtMs: number,
    run: (job: Job) => Outcome | null,
  ): Promise<boolean> {
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

  /** Null where the job failed: without a savepoint the whole group is rolled back with it. */
  #runPlainly(job: Job): Outcome | null {
    try {
      return { results: this.#writer.write(job.statements) };
    } catch {
      this.#writer.rollback();
      this.#careful = carefulGroups;
      return null;
    }
  }

  /** Commits the jobs that have run; the others go back to the head of the queue. */
  async #commitFirst(group: readonly Job[], outcomes: readonly Outcome[]): Promise<void> {
    this.#queue.unshift(...group.slice(outcomes.length));
    await this.#commitTogether(group.slice(0, outcomes.length), outcomes);
  }

  /** Null where the whole transaction is gone; every job is then settled or queued again. */
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
   * A full disk or a `RAISE(ROLLBACK)` rolls back the whole transaction, including the work of other jobs. The job
   * that caused it fails; the others run again, each in its own transaction, so that one of them which causes it
   * again harms only itself.
   */
  #repeatWithout(failed: Job, group: readonly Job[], outcome: Outcome): void {
    settle(failed, outcome);
    this.#repeatAlone(group.filter((job) => job !== failed));
  }

  #repeatAlone(jobs: readonly Job[]): void {
    this.#queue.unshift(...jobs.map((job) => ({ ...job, alone: true })));
  }

  /**
   * Settles the jobs after the COMMIT, failed ones too: a job may have failed because of a conflict with another job,
   * and if that one is not committed there was no conflict.
   */
  async #commitTogether(jobs: readonly Job[], outcomes: readonly Outcome[]): Promise<void> {
    try {
      await this.#commit();
    } catch (error) {
      this.#writer.rollback();
      // A deferred foreign key fails only at the COMMIT, and the error does not tell whose it is, so each job runs
      // again alone.
      if (translated(error) instanceof ConstraintError) this.#repeatAlone(jobs);
      else rejectAll(jobs, error);
      return;
    }
    jobs.forEach((job, index) => {
      settle(job, outcomes[index]!);
    });
  }
}

/** A pragma such as `defer_foreign_keys` is in effect until the COMMIT, so also for other jobs of the group. */
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

function backoffMs(attempt: number): number {
  return Math.min(2 ** attempt, 50);
}
