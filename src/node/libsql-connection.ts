import { resolve } from "node:path";
import type Libsql from "libsql";
import PromiseDatabase from "libsql/promise";
import { type Result, type SqlValue, type Statement, UnavailableError } from "../platform/database.js";
import { Memo, statementLengthMax } from "../platform/memo.js";
import { checkParams, countPlaceholders } from "../platform/statement-text.js";
import { Explainer } from "./libsql-explain.js";
import { fromNative, type NativeRow } from "./native-rows.js";
import { openNative } from "./open-native.js";
import { countPrepared, preparedBytes } from "./prepared-bytes.js";
import { makePrivateFile } from "./private-files.js";

/** How an embedded database is opened. */
export interface LibsqlOptions {
  /** A file, created together with its folder when missing, or `:memory:`. */
  readonly path: string;
  /** What acknowledged writes survive: `full` a power failure, `normal` a crash of the process. */
  readonly synchronous: "full" | "normal";
  /**
   * Whether a command uses it, beside a server that may be running: it then waits for locks inside SQLite, and leaves
   * the journal mode as it is.
   */
  readonly commandLine?: boolean;
  /**
   * Whether this connection checkpoints the WAL: only that of the server that holds the database's lock does
   * (`docs/reference/backends.md#the-database-file`). By default every connection does that no command uses.
   */
  readonly checkpoints?: boolean;
  /** Whether this is a server's second connection, which only reads, beside the one that writes. */
  readonly readsOnly?: boolean;
  /** Whether what this connection deletes is overwritten with zeros (https://sqlite.org/pragma.html#pragma_secure_delete). */
  readonly overwritesDeleted?: boolean;
}

/** Opens the database. Throws UnavailableError where that fails. */
export function openConnection(options: LibsqlOptions): Connection {
  try {
    return new Connection(openFile(options.path), options);
  } catch (error) {
    throw cannotBeOpened(options.path, error);
  }
}

/** The error for a database that cannot be opened; its message has the path and the cause. */
export function cannotBeOpened(path: string, error: unknown): UnavailableError {
  const why = error instanceof Error ? error.message : String(error);
  return new UnavailableError(`the database ${path} cannot be opened: ${why}`, { cause: error });
}

/**
 * Opens the file at `path`. The path is made absolute, because SQLite and libsql take `file:` or `libsql:` at its start
 * for a URL scheme.
 */
function openFile(path: string): Libsql.Database {
  if (path === ":memory:") return openNative(path);
  const file = resolve(path);
  makePrivateFile(file);
  return openNative(file);
}

/**
 * How long SQLite itself waits for a lock, in milliseconds. That blocks the event loop, so it is used only in commands
 * and while a connection is opened.
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

/** A synchronous connection with its pragmas and its cache of prepared statements. Throws libsql's own errors. */
export class Connection {
  readonly #native: Libsql.Database;
  readonly #totalChangesStatement: Libsql.Statement;
  readonly #schemaStatement: Libsql.Statement;
  /** Prepared statements by their SQL text. */
  #statements = newCache();
  readonly #explainer: Explainer;
  /**
   * SQLite's count of rows changed on this connection, `total_changes()`, after the last statement. The difference to
   * the next value is what a statement wrote. Null where it has not been asked since: asking takes as long as binding
   * some parameters.
   */
  #changes: number | null = null;

  constructor(native: Libsql.Database, options: LibsqlOptions) {
    const { path, synchronous, commandLine = false, readsOnly = false, overwritesDeleted = false } = options;
    const { checkpoints = !commandLine && !readsOnly } = options;
    this.#explainer = new Explainer(path, native);
    native.exec(`PRAGMA busy_timeout=${blockingLockWaitMs}`);
    native.exec(`PRAGMA synchronous=${synchronous}`);
    native.exec("PRAGMA foreign_keys=ON");
    // SQLite before 3.51.3 can corrupt a WAL where one connection checkpoints while another one writes to it.
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

  begin(): void {
    this.#changes = null;
    this.#native.exec("BEGIN IMMEDIATE");
  }

  commit(): void {
    this.#native.exec("COMMIT");
  }

  /**
   * Commits in a thread of libsql's, so that the event loop does not wait for the disk. Until the promise settles this
   * connection must not be used: a read would block, and a write would run without a transaction.
   */
  commitBeside(): Promise<void> {
    return PromiseDatabase.prototype.exec.call(this.#native, "COMMIT");
  }

  rollback(): void {
    if (!this.inTransaction) return;
    try {
      this.#native.exec("ROLLBACK");
    } catch {
      // Ignored because SQLite ends the transaction even when the rollback reports an error.
    }
  }

  /**
   * Undoes the work since the savepoint. If the savepoint is gone or cannot be restored, the whole transaction is
   * rolled back.
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
      // Not before a SELECT, which may ask how many rows the write before it has changed.
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
   * A full-text index writes rows that it has buffered when the next statement that writes begins, and SQLite would count
   * them for that statement. A savepoint makes it write them before. It also changes what `changes()` tells.
   */
  #flushVirtualTables(): void {
    this.#native.exec("SAVEPOINT flushed; RELEASE flushed");
    this.#changes = null;
  }

  forgetStatements(): void {
    this.#statements = newCache();
  }

  /** From now on this connection checkpoints after its commits, by SQLite's default every 1,000 pages. */
  startCheckpoints(): void {
    this.#native.exec("PRAGMA wal_autocheckpoint=1000");
  }

  /**
   * Moves the WAL into the database. A checkpoint is safe directly after a commit of the same connection that has
   * written to the WAL, so one comes first: it writes a header field as it is.
   */
  tryCheckpoint(): void {
    try {
      const [[version]] = this.#rows({ sql: "PRAGMA user_version", params: [] }) as [[number]];
      this.#native.exec(`PRAGMA user_version=${version}`);
      this.#native.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // A failure is ignored: nothing is missing in the WAL, and the next connection moves it into the database.
    }
  }

  /**
   * Moves the WAL into the database in a thread of libsql's, in the same way. Until the promise settles this connection
   * must not be used: see `commitBeside`.
   */
  async checkpointBeside(): Promise<void> {
    const [[version]] = this.#rows({ sql: "PRAGMA user_version", params: [] }) as [[number]];
    const sql = `PRAGMA user_version=${version}; PRAGMA wal_checkpoint(TRUNCATE)`;
    await PromiseDatabase.prototype.exec.call(this.#native, sql);
  }

  /**
   * Closes the connection. The file handle is only released when the prepared statements are garbage-collected,
   * because libsql lets them outlive their database.
   */
  close(): void {
    this.forgetStatements();
    this.#explainer.close();
    this.#native.close();
  }

  // Read with `get`, which leaves the statement open. That would normally keep other connections from cleaning up, but
  // this statement reads no table, and `all` would take three times as long.
  #totalChanges(): number {
    const [total] = this.#totalChangesStatement.get([]) as [number];
    return total;
  }

  #rows(statement: Statement, mayWrite = true): Result["rows"] {
    const { sql, params } = statement;
    // A plain EXPLAIN among writes tests whether a statement compiles after them. It is not run: that would leave a
    // statement open that keeps its locks.
    if (mayWrite && /^EXPLAIN (?!QUERY PLAN )/.test(sql)) {
      this.#native.prepare(sql);
      return [];
    }
    if (sql.startsWith("EXPLAIN ")) return fromNative(this.#explainer.rows(sql, params) as NativeRow[]);
    const prepared = this.#prepare(sql);
    // Checks that there are as many parameters as placeholders, because libsql binds NULL for a missing one and ignores
    // one too many.
    checkParams(statement, prepared.placeholders);
    if (prepared.returnsRows) return fromNative(prepared.native.all(params) as NativeRow[]);
    if (!mayWrite) throw new Error("only a statement that reads can be queried");
    prepared.native.run(params);
    return [];
  }

  #prepare(sql: string): PreparedStatement {
    return this.#statements.get(sql, () => {
      // Makes SQLite read the schema anew if another process has changed it: not every error of a new statement would
      // make it do so.
      this.#schemaStatement.all([]);
      countPrepared(sql);
      return prepare(this.#native, sql);
    });
  }
}

const nothingDone: Result = { rows: [], rowsWritten: 0 };

/** Prepares a statement. Without safe integers, reading a stored integer beyond 2^53 would throw. */
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

/** Refuses column names for which D1 would lose or reorder columns, so that tests on this backend find them. */
function refuseUnportableNames(names: readonly string[], sql: string): void {
  const unportable = names.find((name, index) => /^\d+$/.test(name) || names.indexOf(name) < index);
  if (names.length > 1 && unportable !== undefined)
    throw new Error(`two columns are called ${unportable}, or it reads as a number: ${sql}`);
}
