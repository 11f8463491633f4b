import { resolve } from "node:path";
import Libsql from "libsql";
import {
  ConstraintError,
  type Result,
  type ResultValue,
  type SqlValue,
  type Statement,
  UnavailableError,
} from "../platform/database.js";
import { Memo } from "../platform/memo.js";
import { checkParams, countPlaceholders } from "../platform/statement-text.js";
import { Explainer } from "./libsql-explain.js";
import { makePrivateFile } from "./private-files.js";

export interface LibsqlOptions {
  /** A file, created with its folder when missing, or `:memory:`. */
  readonly path: string;
  /** `full` keeps every acknowledged write through a power failure, `normal` through a crash of the process. */
  readonly synchronous: "full" | "normal";
  /** The connection of a command that runs beside a server: it waits inside SQLite, and never checkpoints. */
  readonly commandLine?: boolean;
}

export function openConnection(options: LibsqlOptions): Connection {
  try {
    return new Connection(openFile(options.path), options);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UnavailableError(`the database ${options.path} cannot be opened: ${why}`, { cause: error });
  }
}

/** The path is made absolute because SQLite and libsql read `file:` and `libsql:` at its start as a scheme. */
function openFile(path: string): Libsql.Database {
  if (path === ":memory:") return new Libsql(path);
  const file = resolve(path);
  makePrivateFile(file);
  return new Libsql(file);
}

/** How long SQLite itself waits where blocking the event loop harms nobody: in a command, and while opening. */
const blockingLockWaitMs = 5000;
const cachedStatementsMax = 500;
const newCache = () => new Memo<PreparedStatement>(cachedStatementsMax, Number.POSITIVE_INFINITY);

interface PreparedStatement {
  readonly native: Libsql.Statement<[readonly SqlValue[]]>;
  readonly returnsRows: boolean;
  readonly placeholders: number;
}

/** The synchronous connection, its pragmas and its statement cache. Throws what libsql throws. */
export class Connection {
  readonly #native: Libsql.Database;
  readonly #totalChangesStatement: Libsql.Statement;
  /** By SQL text. */
  #statements = newCache();
  readonly #explainer: Explainer;
  /** What the last statement of the transaction left in `total_changes()`. */
  #changes = 0;

  constructor(native: Libsql.Database, { path, synchronous, commandLine }: LibsqlOptions) {
    this.#explainer = new Explainer(path, native);
    native.exec(`PRAGMA busy_timeout=${blockingLockWaitMs}`);
    native.exec(`PRAGMA synchronous=${synchronous}`);
    native.exec("PRAGMA foreign_keys=ON");
    if (commandLine) {
      // SQLite before 3.51.3 can corrupt a WAL that two connections reset at once: only the server does.
      native.exec("PRAGMA wal_autocheckpoint=0");
    } else {
      // The mode stays with the file, and a command may be reading a file that is not ours to change.
      native.exec("PRAGMA journal_mode=WAL");
      native.exec("PRAGMA busy_timeout=0");
    }
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
    this.#changes = this.#totalChanges();
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
      this.#changes = this.#totalChanges();
    } catch {
      this.rollback();
    }
  }

  read(statement: Statement): Result {
    return { rows: this.#rows(statement, false), rowsWritten: 0 };
  }

  /** In a transaction that `begin` has begun. */
  write(statements: readonly Statement[]): readonly Result[] {
    return statements.map((statement) => {
      const before = this.#changes;
      const rows = this.#rows(statement);
      if (!statement.sql.startsWith("SELECT ")) this.#changes = this.#totalChanges();
      const rowsWritten = this.#changes - before;
      if (rowsWritten > 1) this.#flushVirtualTables();
      return { rows, rowsWritten };
    });
  }

  /** Full-text indexes keep rows back until some later statement begins, to which SQLite would count them. */
  #flushVirtualTables(): void {
    this.#native.exec("SAVEPOINT flushed; RELEASE flushed");
    this.#changes = this.#totalChanges();
  }

  /** How many rows have a foreign key that leads nowhere, by table and parent. An adopted database may have some. */
  danglingKeys(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const [table, , parent] of this.#rows({ sql: "PRAGMA foreign_key_check", params: [] })) {
      const key = `${table} references ${parent}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return counts;
  }

  /** Throws ConstraintError where there are more of them than before. */
  refuseMoreDanglingKeys(before: ReadonlyMap<string, number>): void {
    for (const [key, count] of this.danglingKeys())
      if (count > (before.get(key) ?? 0))
        throw new ConstraintError("foreign_key", `FOREIGN KEY constraint failed: ${key}`);
  }

  forgetStatements(): void {
    this.#statements = newCache();
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
    this.#explainer.close();
    this.#native.close();
  }

  // `get` leaves a statement open, which pins the snapshot of whatever it reads; this one reads no table, and
  // `all` takes three times as long.
  #totalChanges(): number {
    const [total] = this.#totalChangesStatement.get([]) as [number];
    return total;
  }

  #rows(statement: Statement, mayWrite = true): Result["rows"] {
    const { sql, params } = statement;
    if (sql.startsWith("EXPLAIN ")) return fromNative(this.#explainer.rows(sql, params) as NativeRow[]);
    const prepared = this.#prepare(sql);
    // libsql binds NULL for a parameter that is missing and ignores one too many.
    checkParams(statement, prepared.placeholders);
    if (prepared.returnsRows) return fromNative(prepared.native.all(params) as NativeRow[]);
    if (!mayWrite) throw new Error("only a statement that reads can be queried");
    prepared.native.run(params);
    return [];
  }

  #prepare(sql: string): PreparedStatement {
    return this.#statements.get(sql, () => prepare(this.#native, sql));
  }
}

/** Without safe integers, one stored integer beyond 2^53 makes every read of it throw. */
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

/** What D1 would drop or put in another order fails here already. */
function refuseUnportableNames(names: readonly string[], sql: string): void {
  const unportable = names.find((name, index) => /^\d+$/.test(name) || names.indexOf(name) < index);
  if (names.length > 1 && unportable !== undefined)
    throw new Error(`two columns are called ${unportable}, or it reads as a number: ${sql}`);
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
