import { resolve } from "node:path";
import type Libsql from "libsql";
import type { SqlValue } from "../../platform/database.js";
import { openNative } from "./open-native.js";
import { countPrepared } from "./prepared-bytes.js";

/**
 * Runs EXPLAIN statements on a separate connection, because libsql leaves them open: on the connection that writes,
 * an open statement would block every change of the schema.
 */
export class Explainer {
  #connection: Libsql.Database | null = null;
  #schemaVersion: unknown;
  readonly #versionStatement: Libsql.Statement;

  /**
   * `main` is the server's own connection to the database at `path`, from which the schema of an in-memory database is
   * copied.
   */
  constructor(
    private readonly path: string,
    private readonly main: Libsql.Database,
  ) {
    this.#versionStatement = main.prepare("PRAGMA schema_version").raw(true);
  }

  /** The rows of an EXPLAIN or an EXPLAIN QUERY PLAN statement, for the schema that is committed. */
  rows(sql: string, params: readonly SqlValue[]): readonly (readonly unknown[])[] {
    countPrepared(sql);
    const connection = sql.startsWith("EXPLAIN QUERY PLAN ") ? this.#open() : this.#withItsPages();
    const statement = connection.prepare<[readonly SqlValue[]]>(sql);
    const rows = statement.raw(true).all(params) as unknown[][];
    // Running the statement once more with `get` closes it, so that it keeps no lock: libsql leaves an EXPLAIN open
    // after `all`.
    statement.get(params);
    return rows;
  }

  /**
   * Returns a connection for a plain EXPLAIN. The rows of an EXPLAIN name the pages of the database at which tables
   * begin. So for an in-memory database it is the main connection, because in a copy tables begin at other pages.
   */
  #withItsPages(): Libsql.Database {
    return this.path === ":memory:" ? this.main : this.#open();
  }

  close(): void {
    this.#connection?.close();
    this.#connection = null;
  }

  /**
   * Returns the connection for query plans, opened anew after each change of the schema: a connection plans with the
   * statistics that it read when it loaded the schema, and the plan has to be that of the connection that writes.
   */
  #open(): Libsql.Database {
    const [version] = this.#versionStatement.all([]) as [[unknown]];
    if (this.#connection === null || this.#schemaVersion !== version[0]) {
      this.close();
      // An in-memory database is visible only to its own connection, so its schema is copied. That is enough, because a
      // plan depends on the schema and not on rows.
      this.#connection = this.path === ":memory:" ? copyOfSchema(this.main) : openBeside(resolve(this.path));
      this.#schemaVersion = version[0];
    }
    return this.#connection;
  }
}

function openBeside(file: string): Libsql.Database {
  const connection = openNative(file);
  connection.exec("PRAGMA query_only=ON");
  // Automatic checkpoints are off, because only the server's connection for writing may checkpoint
  // (docs/reference/backends.md#the-database-file).
  connection.exec("PRAGMA wal_autocheckpoint=0");
  return connection;
}

function copyOfSchema(main: Libsql.Database): Libsql.Database {
  const copy = openNative(":memory:");
  const objects = main
    .prepare(
      "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid",
    )
    .raw(true)
    .all([]) as [string][];
  for (const [sql] of objects)
    try {
      copy.exec(sql);
    } catch {
      // A failure is expected for the tables that a virtual table keeps its data in: creating the virtual table has
      // made them already.
    }
  return copy;
}
