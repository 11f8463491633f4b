import type { Result, Statement } from "../../platform/database.js";
import type { TriggersReached } from "../../schema/physical/triggers-reached.js";
import type { Duration, WriteExecution } from "../execution/execution.js";
import { bindCounted, type CountedStatement } from "../plan/plan-check.js";
import { returnedRow } from "../sql/returning.js";
import { bind, bindValue } from "../sql-text/fragment.js";
import type { RowWrite } from "./row-write.js";

/** A write of one row as statements of a batch. */
export interface SentWrite {
  /** Statements before the write that count what its rule looks up; empty where that is known anyway. */
  readonly probes: readonly Statement[];
  /** The statement of the write, and the statements that check it directly after it. */
  readonly statements: readonly Statement[];
  /** The statement of the write itself, with what is needed to count its rows. */
  readonly bound: CountedStatement;
  /** Reads the results of `probes` and of the write's statement. */
  readonly read: (probed: readonly Result[], written: Result) => WrittenRow;
}

/** What a write of one row has done. */
export interface WrittenRow {
  /**
   * The written row as JSON text, not in its final form yet (`finishRows`), with the number of rows looked up for the
   * read rule; null where no row was written.
   */
  readonly row: { readonly json: string; readonly probed: number } | null;
  /** How many rows were looked up for the write's rule; null where that was not asked, or no row has the key. */
  readonly probed: number | null;
  /** How many rows were written, as SQLite counts. */
  readonly rowsWritten: number;
}

/**
 * Makes the statements of a write, with its values. `abort` begins the reason in the error by which the write undoes
 * its batch, where one of its statements may do that.
 */
export function sentWrite(
  write: RowWrite,
  { values: ofCaller }: Pick<WriteExecution, "values">,
  abort = "",
): SentWrite {
  const values = [ofCaller, ...write.values, new Map([["abort", abort]])];
  const bound = bindCounted(write.statement, values);
  const isAlone = writesAlone(triggersOf(write));
  const { probes } = write.statement;
  return {
    probes: probes === null ? [] : [bindValue(probes, values)],
    statements: [
      isAlone ? { ...bound.statement, uncounted: true } : bound.statement,
      ...write.checks.map((check) => bind(check, values)),
    ],
    bound,
    read: ([probed], { rows, rowsWritten }) => {
      const text = rows[0]?.[0] as string | undefined;
      return {
        row: text === undefined ? null : returnedRow(text),
        probed: (probed?.rows[0]?.[0] ?? null) as number | null,
        rowsWritten: isAlone ? rows.length : rowsWritten,
      };
    },
  };
}

/**
 * Whether a write changes its own row and nothing else. Then the number of rows that it returns is the number of rows
 * written, and SQLite need not count them.
 */
function writesAlone({ run, rowsWritten, virtualRows, own, logged }: TriggersReached): boolean {
  return !run && rowsWritten === 0 && virtualRows === "none" && !own && !logged;
}

/** What the owner's and the server's triggers do that a write fires, also those that foreign keys lead to. */
export function triggersOf({ kind, access: { table, catalog } }: RowWrite): TriggersReached {
  return catalog.tables.get(table.name)!.triggers[kind];
}

/**
 * Whether a write is `short` or `long`. Finding a row by its key is quick, but a write is long where one of its rules
 * may have an `exists` that takes more than a single look-up in an index, or where rows of other tables may have to be
 * looked for.
 */
export function durationOf(write: RowWrite): Duration {
  return write.statement.exact && !triggersOf(write).isLong ? "short" : "long";
}

/** How many rows the write itself reads: an update or a delete the row that it looks up by its key, an insert none. */
export function ownReads({ kind }: RowWrite): number {
  return kind === "insert" ? 0 : 1;
}

/** `rows_read` of a write that has written its row, if SQLite goes the expected way; null where unknown. */
export function rowsReadBy(write: RowWrite, { probed, row }: WrittenRow): number | null {
  // How many rows a trigger of the project's owner reads cannot be known.
  return triggersOf(write).read ? null : ownReads(write) + (probed ?? 0) + (row?.probed ?? 0);
}

/**
 * `rows_written` of a write, from `counted`, which is SQLite's count without the entries of the log of changes. SQLite
 * also counts the rows of shadow tables behind a virtual table that a trigger writes to, and those that the server's
 * own triggers write, which are both left out. Null where that is not possible. `rows` is how many rows the write
 * itself writes.
 */
export function logicalRows(
  { rowsWritten, virtualRows, own }: TriggersReached,
  counted: number,
  rows = 1,
): number | null {
  if (virtualRows === "none" && !own) return counted;
  if (rowsWritten === null) return null;
  const certain = rows * (1 + rowsWritten);
  if (virtualRows !== "one_more") return certain;
  // Whether a trigger has written the row that is not in `rowsWritten` (`one_more`) shows in SQLite's count alone. It
  // cannot be told where the server's own triggers add to the count, or where the write has several rows.
  if (own || rows > 1) return null;
  return counted > certain ? certain + 1 : certain;
}
