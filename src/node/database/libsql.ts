import { realpathSync, statSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { Commits } from "../../platform/commits.js";
import {
  type Database,
  DeadlineError,
  type LongWork,
  type Result,
  type Statement,
  UnavailableError,
} from "../../platform/database.js";
import { danglingKeys, refuseMoreDanglingKeys } from "../../platform/foreign-key-check.js";
import { backoffMs } from "./backoff.js";
import { CommitWatch } from "./commit-watch.js";
import { type Connection, type LibsqlOptions, openConnection } from "./libsql-connection.js";
import { isBusy, translated } from "./libsql-errors.js";
import { LongWorkThread } from "./libsql-long-work.js";
import { type WriteKind, WriteQueue } from "./libsql-write-queue.js";
import { LongWrites } from "./long-writes.js";

/** Throws UnavailableError if the file is locked or is not a database. */
export function openLibsql(options: LibsqlOptions): EmbeddedDatabase {
  return new LibsqlDatabase(options);
}

/**
 * An embedded SQLite database. If another server holds the lock on its file (see file-lock.ts), a server opens it
 * without the lock and may get the lock later.
 */
export interface EmbeddedDatabase extends Database {
  /** To be called when this server has the database's lock: no other connection may checkpoint. */
  startCheckpoints(): void;
  /** To be called by a server: statements fail that would take its memory (docs/long-work.md#memory). */
  limitMemory(): void;
  /**
   * Runs `work`, and then undoes all that it has written. Meanwhile reads and batches do what they always do.
   * Only for a database in memory; one trial at a time, and no migration in it.
   */
  trial<T>(work: () => Promise<T>): Promise<T>;
  /** Interrupts the long work and takes no more of it. Short reads and writes go on. */
  endLongWork(): Promise<void>;
  readonly commits: Commits;
}

/**
 * How much memory SQLite may take in a server's process. A single function of an owner's SQL, such as `replace`, can make
 * a value of up to a gigabyte of two that have a megabyte each.
 */
const heapBytesMax = 134_217_728;

/** To write the image of a row into the log of changes, SQLite takes about twelve times its bytes. */
const imageBytesMax = 4_194_304;

/** How long a server's write, or its read of a locked database, waits for another process to release the lock. */
const lockWaitMs = 4000;

/**
 * An embedded SQLite database through libsql. For a database file, a server also has a second connection for reads,
 * because a connection cannot be used while it commits, and a thread for what may take long. A command, and a database
 * in memory, have one connection for everything. There a transaction begins and ends within one turn of the event loop,
 * so reads on the same connection see only committed states.
 */
class LibsqlDatabase implements EmbeddedDatabase {
  readonly foreignKeysStayOn = false;
  /** Far below the maximum length of a JavaScript string, with room for JSON escaping. */
  readonly answerBytesMax = 33_554_432;
  readonly functionArgumentsMax = 127;
  readonly imageBytesMax = imageBytesMax;
  readonly statementsMax = null;
  readonly hasReadThread: boolean;
  readonly #writer: Connection;
  /** The same as `#writer` if there is no second connection. */
  readonly #reader: Connection;
  readonly #thread: LongWorkThread | null;
  readonly #lockWaitMs: number;
  #checkpoints: boolean;
  readonly #writes: WriteQueue;
  readonly #longWrites = new LongWrites();
  readonly commits = new CommitWatch(() => {
    this.#assertOpen();
    return this.#reader.read({ sql: "PRAGMA data_version", params: [] }).rows[0]![0] as number;
  });
  #closing: Promise<void> | undefined;

  constructor(options: LibsqlOptions) {
    const { path, synchronous, commandLine = false, checkpoints = !commandLine } = options;
    this.hasReadThread = !commandLine && path !== ":memory:";
    this.#writer = openConnection(options);
    this.#reader = this.hasReadThread ? openConnection({ path, synchronous, readsOnly: true }) : this.#writer;
    this.#thread = this.hasReadThread ? this.#startThread(path, synchronous) : null;
    this.#lockWaitMs = commandLine ? 0 : lockWaitMs;
    this.#checkpoints = checkpoints;
    this.#writes = new WriteQueue(this.#writer, {
      lockWaitMs: this.#lockWaitMs,
      readsElsewhere: this.hasReadThread,
      runInThread: (kind, statements, endsAtMs) => this.#writeInThread(kind, statements, endsAtMs),
      schemaChanged: () => this.#forgetStatements(),
    });
  }

  #startThread(path: string, synchronous: LibsqlOptions["synchronous"]): LongWorkThread {
    // SQLite keeps the WAL next to the file itself, not next to a symbolic link to it.
    const file = realpathSync(path);
    const bytes = () => statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    return new LongWorkThread(
      { path: file, synchronous },
      {
        bytes: () => (this.#checkpoints ? bytes() : 0),
        shorten: () => this.#writes.doNext(() => this.#writer.checkpointInThread()),
      },
    );
  }

  limitMemory(): void {
    this.#writer.limitMemory(heapBytesMax);
  }

  startCheckpoints(): void {
    this.#assertOpen();
    this.#checkpoints = true;
    // The connection for writing may be committing now.
    void this.#writes.doNext(async () => this.#writer.startCheckpoints());
  }

  async trial<T>(work: () => Promise<T>): Promise<T> {
    this.#writer.beginTrial();
    try {
      return await work();
    } finally {
      await this.#writes.busy;
      this.#writer.endTrial();
    }
  }

  async query(statements: readonly Statement[], long?: LongWork): Promise<readonly Result[]> {
    const thread = this.#thread;
    if (long === undefined || thread === null)
      return this.#whenFree(() => statements.map((statement) => this.#reader.read(statement)));
    const endsAtMs = performance.now() + long.withinMs;
    return this.#whenFree(() =>
      this.#explainApart(statements, (others) =>
        thread.read(others, { ...long, withinMs: endsAtMs - performance.now() }),
      ),
    );
  }

  /** Repeats `work` while another process has locked the database, for `lockWaitMs` at most. */
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
   * `run` gets the statements that are no EXPLAIN. libsql would leave an EXPLAIN open in the thread, so these run on
   * the connection for reads, and first, because nothing may fail once `run` has committed.
   */
  async #explainApart(
    statements: readonly Statement[],
    run: (others: readonly Statement[]) => Promise<readonly Result[]>,
  ): Promise<readonly Result[]> {
    const isQuestion = ({ sql }: Statement) => sql.startsWith("EXPLAIN ");
    const answers = new Map(statements.filter(isQuestion).map((question) => [question, this.#reader.read(question)]));
    const results = (await run(statements.filter((statement) => !isQuestion(statement)))).values();
    return statements.map((statement) => answers.get(statement) ?? results.next().value!);
  }

  batch(statements: readonly Statement[], long?: LongWork): Promise<readonly Result[]> {
    return this.#write("batch", statements, long);
  }

  async migrate(statements: readonly Statement[], long?: LongWork): Promise<void> {
    await this.#write("migration", statements, long);
  }

  async #write(kind: WriteKind, statements: readonly Statement[], long: LongWork | undefined) {
    this.#assertOpen();
    const results = await (this.#thread === null || long === undefined
      ? this.#writes.add(kind, statements, null)
      : this.#longWrites.run(long, (endsAtMs) => this.#writes.add(kind, statements, endsAtMs)));
    this.commits.committed();
    return results;
  }

  async #writeInThread(kind: WriteKind, statements: readonly Statement[], endsAtMs: number) {
    if (endsAtMs <= performance.now()) throw new DeadlineError("the deadline passed before its turn came");
    const thread = this.#thread!;
    const run = (as: WriteKind, some: readonly Statement[]) => thread.write(as, some, endsAtMs - performance.now());
    if (kind === "batch") return this.#explainApart(statements, (others) => run("batch", others));
    const [dangling] = await run("batch", [danglingKeys]);
    const results = await run("migration", [...statements, refuseMoreDanglingKeys(dangling!)]);
    this.#forgetStatements();
    return results;
  }

  #forgetStatements(): void {
    this.#writer.forgetStatements();
    this.#reader.forgetStatements();
  }

  async endLongWork(): Promise<void> {
    this.#longWrites.close();
    await this.#thread?.close();
  }

  async close(): Promise<void> {
    this.#closing ??= this.#finish();
    await this.#closing;
  }

  async #finish(): Promise<void> {
    await this.endLongWork();
    await this.#writes.busy;
    if (this.#reader !== this.#writer) this.#reader.close();
    if (this.#checkpoints) this.#writer.tryCheckpoint();
    this.#writer.close();
  }

  // libsql aborts the whole process when a closed database is used.
  #assertOpen(): void {
    if (this.#closing) throw new UnavailableError("the database is closed");
  }
}
