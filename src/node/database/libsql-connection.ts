import { resolve } from "node:path";
import type Libsql from "libsql";
import PromiseDatabase from "libsql/promise";
import { type Result, type SqlValue, type Statement, UnavailableError } from "../../platform/database.js";
import { refuseMoreDanglingKeys } from "../../platform/foreign-key-check.js";
import { Memo, statementLengthMax } from "../../platform/memo.js";
import { checkParams, countPlaceholders } from "../../platform/statement-text.js";
import { makePrivateFile } from "../private-files.js";
import { Explainer } from "./libsql-explain.js";
import { fromNative, type NativeRow } from "./native-rows.js";
import { openNative } from "./open-native.js";
import { countPrepared, preparedBytes } from "./prepared-bytes.js";

/** How an embedded database is opened. */
export interface LibsqlOptions {
  /**
   * The database file, which is created together with its folder if it is missing; `:memory:` for a database in memory.
   */
  readonly path: string;
  /** What committed writes survive: with `full` a power failure, with `normal` a crash of the process. */
  readonly synchronous: "full" | "normal";
  /**
   * Whether a command opens the database. A server may be running on it, so a command waits for locks inside SQLite,
   * and leaves the journal mode as it is.
   */
  readonly commandLine?: boolean;
  /**
   * Whether this connection checkpoints. Only one may: the one for writing of the process that holds the database's
   * lock (`docs/reference/backends.md#the-database-file`). By default false for a command and for a connection that
   * only reads.
   */
  readonly checkpoints?: boolean;
  /** Whether this is a server's second connection, next to the one that writes. */
  readonly readsOnly?: boolean;
  /** Whether deleted content is overwritten with zeros (https://sqlite.org/pragma.html#pragma_secure_delete). */
  readonly overwritesDeleted?: boolean;
}

/** Throws UnavailableError if the database cannot be opened. */
export function openConnection(options: LibsqlOptions): Connection {
  try {
    return new Connection(openFile(options.path), options);
  } catch (error) {
    throw cannotBeOpened(options.path, error);
  }
}

/** The error for a database that cannot be opened. */
export function cannotBeOpened(path: string, error: unknown): UnavailableError {
  const why = error instanceof Error ? error.message : String(error);
  return new UnavailableError(`the database ${path} cannot be opened: ${why}`, { cause: error });
}

/**
 * The path is made absolute, because SQLite and libsql take `file:` or `libsql:` at the beginning of a path for a URL
 * scheme.
 */
function openFile(path: string): Libsql.Database {
  if (path === ":memory:") return openNative(path);
  const file = resolve(path);
  makePrivateFile(file);
  return openNative(file);
}

/**
 * How long SQLite itself waits for a lock. That blocks the event loop, so only commands, and connections that are being
 * opened, wait so.
 */
const blockingLockWaitMs = 5000;
const statementsBytesMax = 16_777_216;
const newCache = () =>
  new Memo<PreparedStatement>(statementsBytesMax, {
    weigh: preparedBytes,
    keyLengthMax: statementLengthMax,
  });

interface PreparedStatement {
  readonly native: Libsql.Statement<[readonly SqlValue[]]>;
  readonly returnsRows: boolean;
  readonly placeholders: number;
}

/** A synchronous connection to an embedded database. Throws libsql's own errors. */
export class Connection {
  readonly #native: Libsql.Database;
  readonly #totalChangesStatement: Libsql.Statement;
  readonly #schemaStatement: Libsql.Statement;
  /** By SQL text. */
  #statements = newCache();
  readonly #explainer: Explainer;
  /**
   * `total_changes()` after the last statement. The next statement has written as many rows as this count grows. Null
   * if it has to be asked for again, which takes as long as binding some parameters, so it is done only when a
   * statement's rows are to be counted.
   */
  #changes: number | null = null;
  #isInTrial = false;

  constructor(native: Libsql.Database, options: LibsqlOptions) {
    const { path, synchronous, commandLine = false, readsOnly = false, overwritesDeleted = false } = options;
    const { checkpoints = !commandLine && !readsOnly } = options;
    this.#explainer = new Explainer(path, native);
    native.exec(`PRAGMA busy_timeout=${blockingLockWaitMs}`);
    native.exec(`PRAGMA synchronous=${synchronous}`);
    native.exec("PRAGMA foreign_keys=ON");
    // SQLite before 3.51.3 can corrupt a WAL if one connection checkpoints while another one writes to it.
    if (!checkpoints) native.exec("PRAGMA wal_autocheckpoint=0");
    if (!commandLine) {
      // The journal mode is stored in the file, so commands do not set it: they may be reading a file of another
      // program.
      if (!readsOnly) native.exec("PRAGMA journal_mode=WAL");
      native.exec("PRAGMA busy_timeout=0");
    }
    if (readsOnly) native.exec("PRAGMA query_only=ON");
    if (overwritesDeleted) native.exec("PRAGMA secure_delete=ON");
    this.#native = native;
    this.#totalChangesStatement = native.prepare("SELECT total_changes()").raw(true);
    this.#schemaStatement = native.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").raw(true);
  }

  get inTransaction(): boolean {
    return this.#native.inTransaction;
  }

  exec(sql: string): void {
    this.#native.exec(sql);
  }

  /**
   * From now on transactions are savepoints within one transaction, which `endTrial` rolls back. Deferred foreign keys
   * are checked when such a savepoint is released, as a COMMIT would check them.
   */
  beginTrial(): void {
    this.#native.exec("BEGIN IMMEDIATE");
    this.#isInTrial = true;
  }

  endTrial(): void {
    this.#isInTrial = false;
    this.#changes = null;
    this.rollback();
  }

  begin(): void {
    this.#changes = null;
    // A statement of the owner may have rolled the trial's own transaction back.
    if (!this.#isInTrial || !this.inTransaction) this.#native.exec("BEGIN IMMEDIATE");
    if (this.#isInTrial) this.#native.exec("SAVEPOINT trial");
  }

  commit(): void {
    if (this.#isInTrial) this.read(refuseMoreDanglingKeys({ rows: [], rowsWritten: 0 }));
    this.#native.exec(this.#isInTrial ? "RELEASE trial; PRAGMA defer_foreign_keys=OFF" : "COMMIT");
  }

  /**
   * Commits in one of libsql's threads, so that the event loop does not wait for the disk. Until the promise settles
   * this connection must not be used: a read would block, and a write would run without a transaction.
   */
  commitInThread(): Promise<void> {
    return PromiseDatabase.prototype.exec.call(this.#native, "COMMIT");
  }

  rollback(): void {
    if (!this.inTransaction) return;
    try {
      this.#native.exec(this.#isInTrial ? "ROLLBACK TO trial; RELEASE trial" : "ROLLBACK");
    } catch {
      // SQLite ends the transaction all the same.
    }
  }

  /**
   * Undoes the work since the savepoint `job`. If that is gone, or SQLite fails to go back to it, rolls the whole
   * transaction back.
   */
  rollbackToSavepoint(): void {
    if (!this.inTransaction) return;
    try {
      this.#native.exec("ROLLBACK TO job; RELEASE job");
      this.#changes = null;
    } catch {
      this.rollback();
    }
  }

  read(statement: Statement): Result {
    return { rows: this.#rows(statement, false), rowsWritten: 0 };
  }

  /** Runs statements inside a transaction that `begin` has opened, and counts the rows that each writes. */
  write(statements: readonly Statement[]): readonly Result[] {
    let mayBuffer = false;
    const results: Result[] = [];
    for (const each of statements) {
      const before = results.at(-1);
      const statement = before === undefined || each.quicker === undefined ? each : each.quicker(before);
      const isRead = statement === null || statement.sql.startsWith("SELECT ");
      // Full-text indexes do not flush before a SELECT, because it may ask with `changes()` how many rows the write
      // before it has changed, and a flush changes that number.
      if (mayBuffer && !isRead) this.#flushVirtualTables();
      const result = statement === null ? nothingDone : this.#written(statement, isRead);
      mayBuffer = result.rowsWritten > 1 || (mayBuffer && isRead);
      results.push(result);
    }
    if (mayBuffer) this.#flushVirtualTables();
    return results;
  }

  #written(statement: Statement, isRead: boolean): Result {
    if (isRead) return { rows: this.#rows(statement), rowsWritten: 0 };
    if (statement.uncounted) {
      const rows = this.#rows(statement);
      this.#changes = null;
      return { rows, rowsWritten: 0 };
    }
    const before = this.#changes ?? this.#totalChanges();
    const rows = this.#rows(statement);
    this.#changes = this.#totalChanges();
    return { rows, rowsWritten: this.#changes - before };
  }

  /**
   * A savepoint makes full-text indexes write the rows that they have buffered. Otherwise they would write them when
   * the next writing statement begins, and SQLite would count them for that statement. Afterwards `changes()` gives
   * another number than before.
   */
  #flushVirtualTables(): void {
    this.#native.exec("SAVEPOINT flushed; RELEASE flushed");
    this.#changes = null;
  }

  forgetStatements(): void {
    this.#statements = newCache();
  }

  /** From now on, a statement fails for which SQLite would need more than this for all connections of the process. */
  limitMemory(bytesMax: number): void {
    this.#native.exec(`PRAGMA hard_heap_limit=${bytesMax}`);
  }

  /** From now on, checkpoints after a commit if the WAL has 1,000 pages, which is SQLite's default. */
  startCheckpoints(): void {
    this.#native.exec("PRAGMA wal_autocheckpoint=1000");
  }

  /**
   * Checkpoints, and ignores a failure. That is safe directly after a commit by which the same connection has written
   * to the WAL, so it first sets the database's `user_version` to the value that it already has.
   */
  tryCheckpoint(): void {
    try {
      const [[version]] = this.#rows({ sql: "PRAGMA user_version", params: [] }) as [[number]];
      this.#native.exec(`PRAGMA user_version=${version}`);
      this.#native.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // The WAL is complete, and the next connection moves it into the database.
    }
  }

  /**
   * Like `tryCheckpoint`, but in one of libsql's threads, and rejects if it fails. Until the promise settles this
   * connection must not be used: see `commitInThread`.
   */
  async checkpointInThread(): Promise<void> {
    const [[version]] = this.#rows({ sql: "PRAGMA user_version", params: [] }) as [[number]];
    const sql = `PRAGMA user_version=${version}; PRAGMA wal_checkpoint(TRUNCATE)`;
    await PromiseDatabase.prototype.exec.call(this.#native, sql);
  }

  /**
   * The file handle is released only when the prepared statements are garbage-collected, because libsql lets them
   * outlive their database.
   */
  close(): void {
    this.forgetStatements();
    this.#explainer.close();
    this.#native.close();
  }

  // `all` would take three times as long as `get`.
  #totalChanges(): number {
    const [total] = this.#totalChangesStatement.get([]) as [number];
    return total;
  }

  #rows(statement: Statement, mayWrite = true): Result["rows"] {
    const { sql, params } = statement;
    // An EXPLAIN (without QUERY PLAN) among writes tests whether a statement compiles after the writes before it. It is
    // not run: libsql would leave it open, with its locks.
    if (mayWrite && /^EXPLAIN (?!QUERY PLAN )/.test(sql)) {
      this.#native.prepare(sql);
      return [];
    }
    if (sql.startsWith("EXPLAIN ")) return fromNative(this.#explainer.rows(sql, params) as NativeRow[]);
    const prepared = this.#prepare(sql);
    // libsql binds NULL for a missing parameter and ignores one too many.
    checkParams(statement, prepared.placeholders);
    if (prepared.returnsRows && statement.single !== undefined) return this.#row(sql, prepared, params);
    if (prepared.returnsRows) return fromNative(prepared.native.all(params) as NativeRow[]);
    if (!mayWrite) throw new Error("only a statement that reads can be queried");
    prepared.native.run(params);
    return [];
  }

  /** Reads at most one row. `all` would take half as long again. */
  #row(sql: string, { native }: PreparedStatement, params: readonly SqlValue[]): Result["rows"] {
    try {
      const row = native.get(params) as NativeRow | undefined;
      return row === undefined ? [] : fromNative([row]);
    } catch (error) {
      // libsql would throw the same error when the statement is used again.
      this.#statements.delete(sql);
      throw error;
    }
  }

  #prepare(sql: string): PreparedStatement {
    return this.#statements.get(sql, () => {
      // Makes SQLite read the schema anew if another process has changed it. Preparing the statement may fail without
      // doing that.
      this.#schemaStatement.all([]);
      countPrepared(sql);
      return prepare(this.#native, sql);
    });
  }
}

/** For a statement that `Statement.quicker` has found unnecessary. */
const nothingDone: Result = { rows: [], rowsWritten: 0 };

/** With safe integers (all as bigint): without them reading a stored integer beyond 2^53 would throw. */
function prepare(database: Libsql.Database, sql: string): PreparedStatement {
  const native = database.prepare<[readonly SqlValue[]]>(sql).safeIntegers(true);
  const returnsRows = native.reader;
  if (returnsRows) {
    refuseUnportableNames(
      native.columns().map(({ name }) => name),
      sql,
    );
    native.raw(true);
  }
  return { native, returnsRows, placeholders: countPlaceholders(sql) };
}

/** Refuses column names that D1 would lose or reorder, so that tests on SQLite find them. */
function refuseUnportableNames(names: readonly string[], sql: string): void {
  const unportable = names.find((name, index) => /^\d+$/.test(name) || names.indexOf(name) < index);
  if (names.length > 1 && unportable !== undefined)
    throw new Error(`two columns are called ${unportable}, or it reads as a number: ${sql}`);
}
