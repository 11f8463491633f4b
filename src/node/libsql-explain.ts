import { resolve } from "node:path";
import Libsql from "libsql";
import type { SqlValue } from "../platform/database.js";

/**
 * Answers EXPLAIN on a connection of its own, as libsql never ends an EXPLAIN: on the one that writes, a schema could not
 * be changed any more.
 */
export class Explainer {
  #connection: Libsql.Database | null = null;
  #schemaVersion: unknown;

  /** `main` is the connection to the database at `path`. */
  constructor(
    private readonly path: string,
    private readonly main: Libsql.Database,
  ) {}

  rows(sql: string, params: readonly SqlValue[]): readonly (readonly unknown[])[] {
    const statement = this.#open().prepare<[readonly SqlValue[]]>(sql);
    // Whether it can be carried out is known by now, and a statement that has begun would keep its locks.
    if (!sql.startsWith("EXPLAIN QUERY PLAN ")) return [];
    const rows = statement.raw(true).all(params) as unknown[][];
    // Unlike `all`, it ends the statement.
    statement.get(params);
    return rows;
  }

  close(): void {
    this.#connection?.close();
    this.#connection = null;
  }

  /** A connection knows the schema, and statistics, of the moment at which it has read them: as the one that writes does. */
  #open(): Libsql.Database {
    const [version] = this.main.prepare("PRAGMA schema_version").raw(true).all([]) as [[unknown]];
    if (this.#connection === null || this.#schemaVersion !== version[0]) {
      this.close();
      // What is in memory is seen by its own connection alone; a plan depends on the schema and on no row.
      this.#connection = this.path === ":memory:" ? copyOfSchema(this.main) : openBeside(resolve(this.path));
      this.#schemaVersion = version[0];
    }
    return this.#connection;
  }
}

function openBeside(file: string): Libsql.Database {
  const connection = new Libsql(file);
  connection.exec("PRAGMA query_only=ON");
  // Only the connection that writes checkpoints.
  connection.exec("PRAGMA wal_autocheckpoint=0");
  return connection;
}

function copyOfSchema(main: Libsql.Database): Libsql.Database {
  const copy = new Libsql(":memory:");
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
      // The shadow tables of a virtual table are there already.
    }
  return copy;
}
