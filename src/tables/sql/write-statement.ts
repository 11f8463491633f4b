import type { Table } from "../../project/model.js";
import type { Expression } from "../../rules/ast.js";
import type { Catalog } from "../../schema/catalog.js";
import type { Counted } from "../plan/plan-check.js";
import { param, Slot, type Sql, sql } from "../sql-text/fragment.js";
import { guardOf, partsOf } from "./guard.js";
import { storedRow } from "./judged-row.js";
import type { AnswerSource } from "./kept-answers.js";

/**
 * A statement that writes one row if its rule is TRUE. It returns the text of the row, which `returnedRow` takes apart,
 * or no row where nothing was written.
 */
export interface WriteStatement extends Counted<Sql> {
  /**
   * A SELECT for metering, to be run right before the write. It returns one number: how many rows are looked up for the
   * `exists` of the write's rule, and of the read rule where there is a precondition. For an update or a delete, no row
   * is returned where no row has the key. Null where these rules have no `exists`.
   */
  readonly probes: Sql | null;
  /**
   * A SELECT that returns a row where there is a row to write and the rule admits it. It tells, after a write that has
   * written nothing, whether the rule or a trigger has prevented it.
   */
  readonly admitted: Sql;
  /**
   * Makes a SELECT to be run right after the write: it undoes the batch where the write has not written its row
   * (`platform/abort.ts`). Its reason is the text in the slot `abort`, followed by a `NotWritten`.
   */
  readonly guard: () => Sql;
  /**
   * How another statement of the transaction finds the row, to keep the write's answer. Null where it cannot be found:
   * the table is WITHOUT ROWID, and a default has made the key of a new row.
   */
  readonly answer: AnswerSource | null;
}

/**
 * Why a write has written no row.
 *
 * - `missing`: no row has the key.
 * - `unreadable`: the write has a precondition, and the caller may not read the row.
 * - `denied`: the rule of the write does not admit the row.
 * - `stale`: the row has none of the versions that the request expects.
 * - `changed`: columns have other values than the request expects. In SQL, `changed:` is followed by a digit for each
 *   of these columns, in their order: 1 where the value differs, else 0.
 * - `ignored`: a trigger has ignored the write (`RAISE(IGNORE)`).
 * - `unnumbered`: the rowid of the new row is too large for a JavaScript number (`rowidCheck`).
 */
export type NotWritten = "missing" | "unreadable" | "denied" | "stale" | "changed" | "ignored" | "unnumbered";

/** Makes the condition that the rule for reading admits the row of the table that the statement is about. */
export function readableBy(table: Table, readRule: Expression, catalog: Catalog): Sql {
  return guardOf(partsOf(readRule, storedRow(table, catalog)), catalog).condition;
}

/**
 * Makes the `guard` of a WriteStatement, whose SELECT undoes the batch where the write right before it has written no
 * row. `undoing` makes the SQL that does so. `changes()` counts only what the write itself has done, without its
 * triggers (https://sqlite.org/c3ref/changes.html).
 */
export function guardedBy(undoing: () => Sql): Pick<WriteStatement, "guard"> {
  let made: Sql | undefined;
  const guard = () => {
    made ??= sql`SELECT CASE WHEN changes() = 1 THEN 1 ELSE ${undoing()} END AS held`;
    return made;
  };
  return { guard };
}

/**
 * Makes an SQL expression that undoes the batch when it is evaluated (`platform/abort.ts`). The reason that it gives is
 * the text in the slot `abort`, followed by `reason`.
 */
export function aborting(reason: Sql): Sql {
  return sql`json_extract('{}', ${param(new Slot("abort"))} || ${reason})`;
}
