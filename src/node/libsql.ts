import { mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import Libsql from "libsql";
import {
  ConstraintError,
  type ConstraintKind,
  type Database,
  type Result,
  type ResultValue,
  type SqlValue,
  type Statement,
  UnavailableError,
} from "../platform/database.js";

export interface LibsqlOptions {
  /** A file, created with its folder when missing, or `:memory:`. */
  readonly path: string;
  /** `full` keeps every acknowledged write through a power failure, `normal` through a crash of the process. */
  readonly synchronous: "full" | "normal";
  /** The connection of a command that runs beside a server: it waits inside SQLite, and never checkpoints. */
  readonly commandLine?: boolean;
}

/** Opens an embedded database. Throws UnavailableError when the file is locked or is not a database. */
export function openLibsql(options: LibsqlOptions): Database {
  return new LibsqlDatabase(openConnection(options), options.commandLine ?? false);
}

/** How long a write, or a read that found the database locked, waits for another process. */
const lockWaitMs = 4000;
/** How long SQLite itself waits where blocking the event loop harms nobody: in a command, and while opening. */
const blockingLockWaitMs = 5000;
const groupJobsMax = 64;
/** Bounds the time that a group keeps reads waiting. */
const groupMsMax = 20;
const cachedStatementsMax = 500;

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
  readonly #connection: Connection;
  readonly #lockWaitMs: number;
  readonly #checkpointOnClose: boolean;
  readonly #queue: Job[] = [];
  #draining: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(connection: Connection, commandLine: boolean) {
    this.#connection = connection;
    this.#lockWaitMs = commandLine ? 0 : lockWaitMs;
    this.#checkpointOnClose = !commandLine;
  }

  async query(statements: readonly Statement[]): Promise<readonly Result[]> {
    const giveUpAtMs = performance.now() + this.#lockWaitMs;
    for (let attempt = 0; ; attempt++) {
      this.#assertOpen();
      try {
        return statements.map((statement) => this.#connection.read(statement));
      } catch (error) {
        if (!isBusy(error) || performance.now() >= giveUpAtMs) throw translated(error);
      }
      await delay(backoffMs(attempt));
    }
  }

  async batch(statements: readonly Statement[]): Promise<readonly Result[]> {
    return this.#enqueue("batch", statements);
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

  /** Runs what is queued, a group each turn: what arrives together through the network shares a COMMIT. */
  async #drain(): Promise<void> {
    let attempt = 0;
    while (this.#queue.length > 0) {
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
      const results = this.#connection.write(job.statements);
      if (job.kind === "migration") this.#connection.checkForeignKeys();
      this.#connection.commit();
      job.resolve(results);
    } catch (error) {
      this.#connection.rollback();
      job.reject(translated(error));
    }
  }

  #runTogether(group: readonly Job[]): void {
    this.#connection.begin();
    const endsAtMs = performance.now() + groupMsMax;
    const outcomes: Outcome[] = [];
    for (const job of group) {
      const outcome = this.#runInSavepoint(job);
      if (!this.#connection.inTransaction) {
        this.#repeatWithout(job, group, outcome);
        return;
      }
      outcomes.push(outcome);
      if (performance.now() >= endsAtMs) break;
    }
    this.#queue.unshift(...group.slice(outcomes.length));
    this.#commitTogether(group.slice(0, outcomes.length), outcomes);
  }

  #runInSavepoint(job: Job): Outcome {
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
  return /^\s*pragma\b/i.test(statement.sql);
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

function openConnection(options: LibsqlOptions): Connection {
  try {
    return new Connection(openFile(options.path), options);
  } catch (error) {
    throw new UnavailableError("the database cannot be opened", { cause: error });
  }
}

/** The path is made absolute because SQLite and libsql read `file:` and `libsql:` at its start as a scheme. */
function openFile(path: string): Libsql.Database {
  if (path === ":memory:") return new Libsql(path);
  const file = resolve(path);
  mkdirSync(dirname(file), { recursive: true });
  return new Libsql(file);
}

interface PreparedStatement {
  readonly native: Libsql.Statement<[readonly SqlValue[]]>;
  readonly returnsRows: boolean;
  readonly placeholders: number;
}

/** The synchronous connection, its pragmas and its statement cache. Throws what libsql throws. */
class Connection {
  readonly #native: Libsql.Database;
  readonly #totalChangesStatement: Libsql.Statement;
  /** By SQL text, the least recently used first. */
  readonly #statements = new Map<string, PreparedStatement>();

  constructor(native: Libsql.Database, { synchronous, commandLine }: LibsqlOptions) {
    native.exec(`PRAGMA busy_timeout=${blockingLockWaitMs}`);
    native.exec("PRAGMA journal_mode=WAL");
    native.exec(`PRAGMA synchronous=${synchronous}`);
    native.exec("PRAGMA foreign_keys=ON");
    // SQLite before 3.51.3 can corrupt a WAL that two connections reset at once: only the server does.
    if (commandLine) native.exec("PRAGMA wal_autocheckpoint=0");
    else native.exec("PRAGMA busy_timeout=0");
    this.#native = native;
    this.#totalChangesStatement = native.prepare("SELECT total_changes()").raw(true);
  }

  get inTransaction(): boolean {
    return this.#native.inTransaction;
  }

  exec(sql: string): void {
    this.#native.exec(sql);
  }

  begin(): void {
    this.#native.exec("BEGIN IMMEDIATE");
  }

  commit(): void {
    this.#native.exec("COMMIT");
  }

  rollback(): void {
    if (!this.inTransaction) return;
    try {
      this.#native.exec("ROLLBACK");
    } catch {
      // SQLite ends the transaction even when it reports an error of the rollback.
    }
  }

  /** Leaves no transaction at all when the savepoint is gone or cannot be restored. */
  rollbackToSavepoint(): void {
    if (!this.inTransaction) return;
    try {
      this.#native.exec("ROLLBACK TO job; RELEASE job");
    } catch {
      this.rollback();
    }
  }

  read(statement: Statement): Result {
    if (!this.#prepare(statement.sql).returnsRows)
      throw new Error("only a statement that reads can be queried");
    return { rows: this.#rows(statement), rowsWritten: 0 };
  }

  write(statements: readonly Statement[]): readonly Result[] {
    let before = this.#totalChanges();
    return statements.map((statement) => {
      const rows = this.#rows(statement);
      const after = this.#totalChanges();
      const result = { rows, rowsWritten: after - before };
      before = after;
      return result;
    });
  }

  /** Throws ConstraintError for the first row whose foreign key leads nowhere. */
  checkForeignKeys(): void {
    const [violation] = this.#rows({ sql: "PRAGMA foreign_key_check", params: [] });
    if (!violation) return;
    const [table, , parent] = violation;
    throw new ConstraintError("foreign_key", `FOREIGN KEY constraint failed: ${table} references ${parent}`);
  }

  forgetStatements(): void {
    this.#statements.clear();
  }

  tryCheckpoint(): void {
    try {
      this.#native.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // The WAL is complete without it; the next connection checkpoints.
    }
  }

  /** The file itself is released when the statements are collected: libsql lets them outlive their database. */
  close(): void {
    this.forgetStatements();
    this.#native.close();
  }

  // `get` leaves a statement open, which pins the snapshot of whatever it reads; this one reads no table, and
  // `all` takes three times as long.
  #totalChanges(): number {
    const [total] = this.#totalChangesStatement.get([]) as [number];
    return total;
  }

  #rows({ sql, params }: Statement): Result["rows"] {
    const prepared = this.#prepare(sql);
    checkParams(params, prepared.placeholders);
    if (prepared.returnsRows) return fromNative(prepared.native.all(params) as NativeRow[]);
    prepared.native.run(params);
    return [];
  }

  #prepare(sql: string): PreparedStatement {
    const prepared = this.#statements.get(sql) ?? prepare(this.#native, sql);
    this.#statements.delete(sql);
    this.#statements.set(sql, prepared);
    if (this.#statements.size > cachedStatementsMax) this.#forgetOldest();
    return prepared;
  }

  #forgetOldest(): void {
    const [oldest] = this.#statements.keys();
    if (oldest !== undefined) this.#statements.delete(oldest);
  }
}

/** Without safe integers, one stored integer beyond 2^53 makes every read of it throw. */
function prepare(database: Libsql.Database, sql: string): PreparedStatement {
  const native = database.prepare<[readonly SqlValue[]]>(sql).safeIntegers(true);
  const returnsRows = native.reader;
  if (returnsRows) native.raw(true);
  return { native, returnsRows, placeholders: countPlaceholders(sql) };
}

/** A doubled quote inside a literal reads as two literals side by side, which counts the same. */
const quotedOrPlaceholder = /'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?\*\/|\?/g;

function countPlaceholders(sql: string): number {
  return Array.from(sql.matchAll(quotedOrPlaceholder)).filter(([token]) => token === "?").length;
}

/** libsql binds NULL for a parameter that is missing and ignores one too many. */
function checkParams(params: readonly SqlValue[], placeholders: number): void {
  if (params.length !== placeholders) {
    throw new Error(`${placeholders} placeholders were given ${params.length} parameters`);
  }
  for (const param of params) {
    if (!binds(param))
      throw new TypeError(`a parameter of type ${typeof param} has a value that does not bind`);
  }
}

/** libsql aborts the process on a boolean, cuts text at NUL, and replaces a surrogate that has no partner. */
function binds(param: unknown): boolean {
  switch (typeof param) {
    case "bigint":
      return BigInt.asIntN(64, param) === param;
    case "number":
      return Number.isFinite(param);
    case "string":
      return !/[\0\p{Surrogate}]/u.test(param);
    default:
      return param === null || param instanceof Uint8Array;
  }
}

type NativeRow = (null | bigint | number | string | Buffer)[];

/** In place: lists are the hot path, and a copy of every row costs a third of reading it. */
function fromNative(rows: NativeRow[]): readonly (readonly ResultValue[])[] {
  for (const row of rows) {
    for (let index = 0; index < row.length; index++) {
      const value = row[index]!;
      if (typeof value === "bigint") row[index] = Number(value);
      else if (value instanceof Uint8Array) (row as ResultValue[])[index] = new Uint8Array(value);
    }
  }
  return rows as ResultValue[][];
}

/** SQLite's extended result codes. */
const constraintKinds = new Map<number, ConstraintKind>([
  [20, "datatype"], // MISMATCH: not an integer for an INTEGER PRIMARY KEY
  [275, "check"],
  [787, "foreign_key"],
  [1299, "not_null"],
  [1555, "primary_key"],
  [1811, "trigger"], // also ON DELETE and ON UPDATE RESTRICT
  [2067, "unique"],
  [2579, "primary_key"], // CONSTRAINT_ROWID
  [3091, "datatype"], // CONSTRAINT_DATATYPE, of a STRICT table
]);

const primaryBusy = 5;

/** SQLite's primary result codes after which the same statement may succeed another time. */
const unavailable = new Set([
  primaryBusy,
  6, // LOCKED
  7, // NOMEM
  8, // READONLY
  10, // IOERR
  11, // CORRUPT
  13, // FULL
  14, // CANTOPEN
  15, // PROTOCOL: the locks of the WAL
  26, // NOTADB
]);

/** The contract's error for one of SQLite, anything else unchanged. Its message names columns, never SQL. */
function translated(error: unknown): unknown {
  const code = sqliteCode(error);
  if (!(error instanceof Error) || code === undefined) return error;
  const kind = constraintKinds.get(code);
  if (kind) return constraintError(kind, error.message);
  return unavailable.has(code & 0xff) ? new UnavailableError(error.message, { cause: error }) : error;
}

function constraintError(kind: ConstraintKind, message: string): ConstraintError {
  if (kind === "trigger" && message === "FOREIGN KEY constraint failed")
    return new ConstraintError("foreign_key", message);
  // SQLite quotes the expression.
  return new ConstraintError(kind, kind === "check" ? "CHECK constraint failed" : message);
}

function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && (code & 0xff) === primaryBusy;
}

function sqliteCode(error: unknown): number | undefined {
  return error instanceof Libsql.SqliteError ? error.rawCode : undefined;
}
