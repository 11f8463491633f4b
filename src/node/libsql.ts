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

/** Opens an embedded database. Throws UnavailableError when the file is locked or is not a database. */
export function openLibsql(options: LibsqlOptions): Database {
  return new LibsqlDatabase(openConnection(options), options.commandLine ?? false);
}

/** How long a write, or a read that found the database locked, waits for another process. */
const lockWaitMs = 4000;
const groupJobsMax = 64;
/** Bounds the time that a group keeps reads waiting. */
const groupMsMax = 20;
/** Groups behind a failure that expect another one. */
const carefulGroups = 100;

interface Job {
  readonly kind: "batch" | "migration";
  readonly statements: readonly Statement[];
  readonly giveUpAtMs: number;
  readonly resolve: (results: readonly Result[]) => void;
  readonly reject: (reason: unknown) => void;
  /** Whether it needs a transaction of its own. */
  readonly alone: boolean;
}

type Outcome = { readonly results: readonly Result[] } | { readonly error: unknown };

/**
 * Writes wait in this process and not in SQLite, where they would block the event loop, and those that are
 * waiting share one COMMIT, hence one fsync. A transaction never outlives a turn of the event loop, so that
 * reads, on the same connection, only see committed states.
 */
class LibsqlDatabase implements Database {
  readonly foreignKeysStayOn = false;
  /** Well under what a string of the runtime can be. */
  readonly answerBytesMax = 33_554_432;
  readonly #connection: Connection;
  readonly #lockWaitMs: number;
  readonly #checkpointOnClose: boolean;
  readonly #queue: Job[] = [];
  #draining: Promise<void> | undefined;
  /** How many groups still have a savepoint for each job. */
  #careful = 0;
  #closing: Promise<void> | undefined;

  constructor(connection: Connection, commandLine: boolean) {
    this.#connection = connection;
    this.#lockWaitMs = commandLine ? 0 : lockWaitMs;
    this.#checkpointOnClose = !commandLine;
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
    if (this.#checkpointOnClose) this.#connection.tryCheckpoint();
    this.#connection.close();
  }

  // libsql aborts the process when a closed database is asked for its state.
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
   * Runs what is queued, a group every second turn: what arrives together through the network shares a COMMIT, also with what
   * comes while the last answers are being recorded.
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

  /** Foreign keys can only be switched outside a transaction. */
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

  /** Where few jobs fail, there is no savepoint to go back to before one has. */
  #runTogether(group: readonly Job[]): void {
    const endsAtMs = performance.now() + groupMsMax;
    if (this.#careful === 0 && this.#runEach(group, endsAtMs, (job) => this.#runPlainly(job))) return;
    this.#careful--;
    this.#runEach(group, endsAtMs, (job) => this.#runInSavepoint(job, group));
  }

  /** False where `run` has ended the transaction, and had no outcome to tell. */
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

  /** Null where it failed, and with it the whole group. */
  #runPlainly(job: Job): Outcome | null {
    try {
      return { results: this.#connection.write(job.statements) };
    } catch {
      this.#connection.rollback();
      this.#careful = carefulGroups;
      return null;
    }
  }

  /** Those that have an outcome; the others wait for the next turn. */
  #commitFirst(group: readonly Job[], outcomes: readonly Outcome[]): void {
    this.#queue.unshift(...group.slice(outcomes.length));
    this.#commitTogether(group.slice(0, outcomes.length), outcomes);
  }

  /** Null where the whole transaction is gone: then each is settled or queued again. */
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
   * A full disk or a `RAISE(ROLLBACK)` takes back the whole transaction, the work of other jobs included. The
   * job that caused it fails, the others start again, each in its own transaction so that nothing repeats.
   */
  #repeatWithout(failed: Job, group: readonly Job[], outcome: Outcome): void {
    settle(failed, outcome);
    this.#repeatAlone(group.filter((job) => job !== failed));
  }

  #repeatAlone(jobs: readonly Job[]): void {
    this.#queue.unshift(...jobs.map((job) => ({ ...job, alone: true })));
  }

  /** Acknowledges after COMMIT, failures too: a conflict with a job that was never committed is none. */
  #commitTogether(jobs: readonly Job[], outcomes: readonly Outcome[]): void {
    try {
      this.#connection.commit();
    } catch (error) {
      this.#connection.rollback();
      // A deferred foreign key fails here, and does not say whose it is.
      if (translated(error) instanceof ConstraintError) this.#repeatAlone(jobs);
      else rejectAll(jobs, error);
      return;
    }
    jobs.forEach((job, index) => {
      settle(job, outcomes[index]!);
    });
  }
}

/** A pragma such as `defer_foreign_keys` holds until COMMIT, for other jobs of the group too. */
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
