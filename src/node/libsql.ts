import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import {
  ConstraintError,
  type Database,
  type Result,
  type Statement,
  UnavailableError,
} from "../platform/database.js";
import { type Connection, type LibsqlOptions, openConnection } from "./libsql-connection.js";
import { isBusy, translated } from "./libsql-errors.js";

/** Opens an embedded SQLite database. Throws UnavailableError when the file is locked or is not a database. */
export function openLibsql(options: LibsqlOptions): EmbeddedDatabase {
  const { commandLine = false, checkpoints = !commandLine } = options;
  return new LibsqlDatabase(openConnection(options), commandLine, checkpoints);
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

interface Job {
  readonly kind: "batch" | "migration";
  readonly statements: readonly Statement[];
  readonly giveUpAtMs: number;
  readonly resolve: (results: readonly Result[]) => void;
  readonly reject: (reason: unknown) => void;
  /** Whether it has to run in a transaction of its own. */
  readonly alone: boolean;
}

type Outcome = { readonly results: readonly Result[] } | { readonly error: unknown };

/**
 * Writes wait for a lock in a queue of this process and not inside SQLite, where waiting would block the event loop.
 * Queued writes share one COMMIT, and so one fsync. A transaction begins and ends within one turn of the event loop,
 * so reads on the same connection see only committed states.
 */
class LibsqlDatabase implements EmbeddedDatabase {
  readonly foreignKeysStayOn = false;
  /** Far below the maximum length of a JavaScript string, with room for JSON escaping. */
  readonly answerBytesMax = 33_554_432;
  readonly #connection: Connection;
  readonly #lockWaitMs: number;
  #checkpoints: boolean;
  readonly #queue: Job[] = [];
  #draining: Promise<void> | undefined;
  /** How many more groups give each job a savepoint. */
  #careful = 0;
  #closing: Promise<void> | undefined;

  constructor(connection: Connection, commandLine: boolean, checkpoints: boolean) {
    this.#connection = connection;
    this.#lockWaitMs = commandLine ? 0 : lockWaitMs;
    this.#checkpoints = checkpoints;
  }

  startCheckpoints(): void {
    this.#assertOpen();
    this.#connection.startCheckpoints();
    this.#checkpoints = true;
  }

  async query(statements: readonly Statement[]): Promise<readonly Result[]> {
    let giveUpAtMs: number | undefined;
    for (let attempt = 0; ; attempt++) {
      this.#assertOpen();
      try {
        return statements.map((statement) => this.#connection.read(statement));
      } catch (error) {
        giveUpAtMs ??= performance.now() + this.#lockWaitMs;
        if (!isBusy(error) || performance.now() >= giveUpAtMs) throw translated(error);
      }
      await delay(backoffMs(attempt));
    }
  }

  async batch(statements: readonly Statement[]): Promise<readonly Result[]> {
    return await this.#enqueue("batch", statements);
  }

  async migrate(statements: readonly Statement[]): Promise<void> {
    await this.#enqueue("migration", statements);
  }

  async close(): Promise<void> {
    this.#closing ??= this.#finish();
    await this.#closing;
  }

  async #finish(): Promise<void> {
    await this.#draining;
    if (this.#checkpoints) this.#connection.tryCheckpoint();
    this.#connection.close();
  }

  // Needed because libsql aborts the process when a closed database is used.
  #assertOpen(): void {
    if (this.#closing) throw new UnavailableError("the database is closed");
  }

  #enqueue(kind: Job["kind"], statements: readonly Statement[]): Promise<readonly Result[]> {
    this.#assertOpen();
    return new Promise((resolve, reject) => {
      const giveUpAtMs = performance.now() + this.#lockWaitMs;
      const alone = kind === "migration" || statements.some(isPragma);
      this.#queue.push({ kind, statements, giveUpAtMs, resolve, reject, alone });
      this.#draining ??= this.#drain();
    });
  }

  /**
   * Runs the queued jobs, a group every second turn of the event loop. Writes that arrive from the network together
   * then share a COMMIT, also with those that arrive while receipts of the previous answers are being recorded.
   */
  async #drain(): Promise<void> {
    let attempt = 0;
    while (this.#queue.length > 0) {
      await nextTurn();
      await nextTurn();
      const group = this.#takeGroup();
      try {
        this.#run(group);
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
  #run(group: readonly Job[]): void {
    try {
      const [first] = group;
      if (first?.kind === "migration") this.#runMigration(first);
      else if (first && group.length === 1) this.#runAlone(first);
      else this.#runTogether(group);
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

  /** Switches foreign keys off meanwhile, which SQLite only allows outside a transaction. */
  #runMigration(job: Job): void {
    this.#connection.exec("PRAGMA foreign_keys=OFF");
    try {
      this.#runAlone(job);
    } finally {
      this.#connection.exec("PRAGMA foreign_keys=ON");
      this.#connection.forgetStatements();
    }
  }

  #runAlone(job: Job): void {
    this.#connection.begin();
    try {
      const dangling = job.kind === "migration" ? this.#connection.danglingKeys() : null;
      const results = this.#connection.write(job.statements);
      if (dangling !== null) this.#connection.refuseMoreDanglingKeys(dangling);
      this.#connection.commit();
      job.resolve(results);
    } catch (error) {
      this.#connection.rollback();
      job.reject(translated(error));
    }
  }

  /**
   * Runs the jobs in one transaction. As long as no job fails they have no savepoints, which saves time; after a
   * failure the group starts again with a savepoint for each.
   */
  #runTogether(group: readonly Job[]): void {
    const endsAtMs = performance.now() + groupMsMax;
    if (this.#careful === 0 && this.#runEach(group, endsAtMs, (job) => this.#runPlainly(job))) return;
    this.#careful--;
    this.#runEach(group, endsAtMs, (job) => this.#runInSavepoint(job, group));
  }

  /**
   * Runs jobs in one transaction until the time is up, and commits. False where `run` returned null, because the
   * transaction has been rolled back.
   */
  #runEach(group: readonly Job[], endsAtMs: number, run: (job: Job) => Outcome | null): boolean {
    this.#connection.begin();
    const outcomes: Outcome[] = [];
    for (const job of group) {
      const outcome = run(job);
      if (outcome === null) return false;
      outcomes.push(outcome);
      if (performance.now() >= endsAtMs) break;
    }
    this.#commitFirst(group, outcomes);
    return true;
  }

  /** Null where the job failed: without a savepoint the whole group is rolled back with it. */
  #runPlainly(job: Job): Outcome | null {
    try {
      return { results: this.#connection.write(job.statements) };
    } catch {
      this.#connection.rollback();
      this.#careful = carefulGroups;
      return null;
    }
  }

  /** Commits the jobs that have run; the others go back to the head of the queue. */
  #commitFirst(group: readonly Job[], outcomes: readonly Outcome[]): void {
    this.#queue.unshift(...group.slice(outcomes.length));
    this.#commitTogether(group.slice(0, outcomes.length), outcomes);
  }

  /** Null where the whole transaction is gone; every job is then settled or queued again. */
  #runInSavepoint(job: Job, group: readonly Job[]): Outcome | null {
    const outcome = this.#tryInSavepoint(job);
    if (this.#connection.inTransaction) return outcome;
    this.#repeatWithout(job, group, outcome);
    return null;
  }

  #tryInSavepoint(job: Job): Outcome {
    try {
      this.#connection.exec("SAVEPOINT job");
      const results = this.#connection.write(job.statements);
      this.#connection.exec("RELEASE job");
      return { results };
    } catch (error) {
      this.#connection.rollbackToSavepoint();
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
  #commitTogether(jobs: readonly Job[], outcomes: readonly Outcome[]): void {
    try {
      this.#connection.commit();
    } catch (error) {
      this.#connection.rollback();
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
