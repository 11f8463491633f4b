import { resolve } from "node:path";
import type Libsql from "libsql";
import type { SqlValue } from "../../platform/database.js";
import { openNative } from "./open-native.js";
import { countPrepared } from "./prepared-bytes.js";

/**
 * Runs EXPLAIN statements on a separate connection, because libsql leaves them open: on the connection that writes, an
 * open statement would block every change of the schema.
 */
export class Explainer {
  #connection: Libsql.Database | null = null;
  #schemaVersion: unknown;
  readonly #versionStatement: Libsql.Statement;

  /** `main` is the server's own connection, from which the schema of an in-memory database is copied. */
  constructor(
    private readonly path: string,
    private readonly main: Libsql.Database,
  ) {
    this.#versionStatement = main.prepare("PRAGMA schema_version").raw(true);
  }

  /** The rows of an EXPLAIN or an EXPLAIN QUERY PLAN statement, for the committed schema. */
  rows(sql: string, params: readonly SqlValue[]): readonly (readonly unknown[])[] {
    countPrepared(sql);
    const connection = sql.startsWith("EXPLAIN QUERY PLAN ") ? this.#open() : this.#withItsPages();
    const statement = connection.prepare<[readonly SqlValue[]]>(sql);
    const rows = statement.raw(true).all(params) as unknown[][];
    // `get` closes the statement and its lock: libsql leaves an EXPLAIN open after `all`.
    statement.get(params);
    return rows;
  }

  /**
   * The rows of a plain EXPLAIN name the pages at which tables begin. In a copy of an in-memory database these are
   * other pages, so the main connection is used.
   */
  #withItsPages(): Libsql.Database {
    return this.path === ":memory:" ? this.main : this.#open();
  }

  close(): void {
    this.#connection?.close();
    this.#connection = null;
  }

  /**
   * The connection for query plans, opened anew after each change of the schema: a connection plans with the statistics
   * that it read with the schema, and the plan has to be that of the connection that writes.
   */
  #open(): Libsql.Database {
    const [version] = this.#versionStatement.all([]) as [[unknown]];
    if (this.#connection === null || this.#schemaVersion !== version[0]) {
      this.close();
      // Only its own connection sees an in-memory database. A copy of its schema is enough, because a plan depends on
      // the schema and not on rows.
      this.#connection = this.path === ":memory:" ? copyOfSchema(this.main) : openReadOnly(resolve(this.path));
      this.#schemaVersion = version[0];
    }
    return this.#connection;
  }
}

function openReadOnly(file: string): Libsql.Database {
  const connection = openNative(file);
  connection.exec("PRAGMA query_only=ON");
  // Only the server's connection for writing may checkpoint (docs/reference/backends.md#the-database-file).
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
      // Fails for the tables that a virtual table keeps its data in: creating the virtual table has made them already.
    }
  return copy;
}
