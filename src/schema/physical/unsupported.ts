import { type Database, NotSetUpError, StatementError } from "../../platform/database.js";
import { affinity } from "../../sqlite/column-type.js";
import { quoteName } from "../../sqlite/sql-tokens.js";
import { isEverywhere, type OwnersSql } from "./owners-sql.js";
import { collationsOf, type PhysicalTable, physicalKey } from "./physical.js";

/**
 * What this database engine cannot do with the project's tables. Tables that another program made may need functions or
 * collations of that program, or refer to tables that are missing (docs/guides/existing-database.md). Each reason is
 * SQLite's message.
 */
export interface Unsupported {
  /** Tables that cannot be read, with the reason. */
  readonly reads: ReadonlyMap<string, string>;
  /** Tables that cannot be written to, with the reason. */
  readonly writes: ReadonlyMap<string, string>;
  /** Columns that cannot be compared, by table and column, with the reason. */
  readonly columns: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

/** For an engine that can do everything with all tables. */
export const nothingUnsupported: Unsupported = { reads: new Map(), writes: new Map(), columns: new Map() };

/**
 * Asks the database engine, by EXPLAIN, which statements on which tables it can prepare. Only tables whose definition
 * contains SQL that not every engine can evaluate are asked for.
 */
export async function findUnsupported(
  database: Database,
  ownersSql: ReadonlyMap<PhysicalTable, OwnersSql>,
): Promise<Unsupported> {
  const reads = new Map<string, string>();
  const writes = new Map<string, string>();
  const columns = new Map<string, Map<string, string>>();
  const questions = [...ownersSql]
    .filter(([{ kind }]) => kind === "ordinary")
    .flatMap(([table, { isCommon }]): ReadabilityCheck[] => {
      const { name } = table;
      const collated = [...collationsOf(table)].filter(([, collation]) => !isEverywhere(collation));
      const incomparable = new Map<string, string>();
      if (collated.length > 0) columns.set(name, incomparable);
      return [
        ...collated.map(([column, collation]) => ({
          sql: `SELECT '' = '' COLLATE ${quoteName(collation)} AS equal`,
          refused: (reason: string) => incomparable.set(column, reason),
        })),
        ...(collated.length === 0 ? [] : [reading(table)]).map((sql) => ({
          sql,
          refused: (reason: string) => reads.set(name, reason),
        })),
        ...(isCommon ? [] : writing(table)).map((sql) => ({
          sql,
          refused: (reason: string) => writes.set(name, reason),
        })),
      ];
    });
  await ask(database, questions);
  return { reads, writes, columns };
}

interface ReadabilityCheck {
  readonly sql: string;
  readonly refused: (reason: string) => void;
}

/**
 * Reads a table as lists of rows do: it sorts by the primary key, and compares numbers, because a list sends large
 * numbers as texts.
 */
function reading(table: PhysicalTable): string {
  const key = physicalKey(table).map(quoteName);
  const numbers = table.columns.filter(
    ({ kind, declaredType }) => kind === "ordinary" && affinity(declaredType) !== "text",
  );
  const shown = ["1", ...numbers.map(({ name }) => `${quoteName(name)} < 1`)].map((sql, i) => `${sql} AS c${i}`);
  const ordered = key.length === 0 ? "" : ` ORDER BY ${key.join(", ")}`;
  return `SELECT ${shown.join(", ")} FROM ${quoteName(table.name)} NOT INDEXED${ordered}`;
}

/**
 * These are prepared and not run. The DELETE has a condition, because without one SQLite would delete all rows at once
 * and not look at the indexes.
 */
function writing({ name, columns }: PhysicalTable): readonly string[] {
  const table = quoteName(name);
  const names = columns.filter(({ kind }) => kind === "ordinary").map((column) => quoteName(column.name));
  return [
    `INSERT INTO ${table} DEFAULT VALUES`,
    `UPDATE ${table} SET ${names.map((column) => `${column} = ${column}`).join(", ")}`,
    `DELETE FROM ${table} WHERE 1`,
  ];
}

/** Prepares all statements in one round trip. If that fails, each is asked for by itself. */
async function ask(database: Database, questions: readonly ReadabilityCheck[]): Promise<void> {
  if (questions.length === 0 || (await errorOf(database, questions)) === null) return;
  for (const question of questions) {
    const reason = await errorOf(database, [question]);
    if (reason !== null) question.refused(reason);
  }
}

async function errorOf(database: Database, questions: readonly ReadabilityCheck[]): Promise<string | null> {
  try {
    await database.query(questions.map(({ sql }) => ({ sql: `EXPLAIN ${sql}`, params: [] })));
    return null;
  } catch (error) {
    // A NotSetUpError, too, means here that the engine cannot prepare the statement: a trigger of the table may name a
    // table that does not exist and whose name looks like one of the server's own tables.
    if (error instanceof StatementError || error instanceof NotSetUpError) return error.message;
    throw error;
  }
}

/** Messages for a person about what this database engine cannot do with the given tables. */
export function limitsOf({ reads, writes, columns }: Unsupported, tables: Iterable<{ name: string }>): string[] {
  return [...tables].flatMap(({ name }) => {
    const unread = reads.get(name);
    if (unread !== undefined) return [`${name}: cannot be read here: ${unread}`];
    const unwritten = writes.get(name);
    return [
      ...(unwritten === undefined ? [] : [`${name}: can only be read here: ${unwritten}`]),
      ...[...(columns.get(name) ?? [])].map(
        ([column, reason]) => `${name}.${column}: can neither be sorted nor filtered by here: ${reason}`,
      ),
    ];
  });
}
