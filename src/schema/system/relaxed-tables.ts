import { type Database, type Statement, statement } from "../../platform/database.js";
import { systemMigrations } from "./migrations.js";

/** The names of the server's own tables. */
const ownTables: ReadonlySet<string> = new Set([
  "_migrations",
  ...systemMigrations.flatMap(({ statements }) =>
    statements.flatMap((sql) => /^CREATE TABLE (?:IF NOT EXISTS )?(_\w+)/.exec(sql)?.[1] ?? []),
  ),
]);

/**
 * Makes the server's own tables in an embedded file not STRICT. Releases up to 0.1.0 made them STRICT, and then no
 * program with SQLite before 3.37 can read the file at all. Where the owner's tables are STRICT too, nothing changes.
 * The rows are stored in the same way with and without STRICT, so only the CREATE statements in `sqlite_master` change.
 */
export async function relaxOwnTables(database: Database): Promise<void> {
  const [found] = await database.query([
    statement(
      "SELECT m.name, m.sql FROM pragma_table_list AS l JOIN sqlite_master AS m ON m.type = 'table' AND m.name = l.name WHERE l.schema = 'main' AND l.strict",
    ),
  ]);
  const strict = found!.rows as readonly (readonly [name: string, sql: string])[];
  if (strict.length === 0 || !strict.every(([name]) => ownTables.has(name))) return;
  try {
    await database.batch([
      statement("PRAGMA writable_schema = ON"),
      ...strict.map(([name, sql]) => relaxed(name, sql)),
      // Other connections notice the change by the schema's version, which a change of a table raises.
      statement("CREATE TABLE _relaxed (id INTEGER PRIMARY KEY)"),
      statement("DROP TABLE _relaxed"),
      reset,
    ]);
  } catch (error) {
    await database.batch([reset]);
    throw error;
  }
}

/** Also reads the schema again. */
const reset = statement("PRAGMA writable_schema = RESET");

function relaxed(name: string, sql: string): Statement {
  // Without STRICT, SQLite would turn texts in a column declared ANY into numbers, but not in one without a type.
  const text = sql.replace(/\) STRICT(?:,( WITHOUT ROWID))?$/, ")$1").replace(/\bvalue ANY\b/, "value");
  return statement("UPDATE sqlite_master SET sql = ? WHERE type = 'table' AND name = ? AND sql = ?", text, name, sql);
}
