import { closeTransaction, entriesIn, openTransaction } from "../../changes/transactions.js";
import { badRequest, isRefusal, type Refusal } from "../../http/refusal.js";
import { isAbort } from "../../platform/abort.js";
import { ConstraintError, type Statement } from "../../platform/database.js";
import type { Memo } from "../../platform/memo.js";
import { deniedBy } from "../access/access.js";
import {
  countedRead,
  type Execution,
  longWorkOf,
  read,
  type WriteExecution,
} from "../execution/execution.js";
import type { Counted } from "../plan/plan-check.js";
import { notFound, type RowValues } from "../request/row-request.js";
import { finishRows } from "../sql/finish-rows.js";
import { getStatement, presenceStatement } from "../sql/row.js";
import { bind, type Sql } from "../sql-text/fragment.js";
import { ignored, refusalOfError } from "./refused-write.js";
import { deleteOf, insertOf, type RowWrite, slots, updateOf, type WriteTarget } from "./row-write.js";
import { durationOf, logicalRows, ownReads, rowsReadBy, sentWrite, triggersOf } from "./sent-write.js";

/**
 * What requests for single rows of a table use: the caller's access to the table, and the statements that earlier
 * requests have made.
 */
export interface RowTarget extends WriteTarget {
  readonly reads: Memo<Counted<Sql>>;
}

const tooLarge = badRequest("the row is too large for an answer: list it with fewer columns");

/**
 * Reads a row by its key. Returns it as JSON text, or a refusal: 403, 404, or 400 for a row that is too large for an
 * answer.
 */
export async function getRow(
  { access, reads }: RowTarget,
  execution: Execution,
  key: RowValues,
): Promise<string | Refusal> {
  const { table, catalog, rule, preview } = access;
  const output = [...access.readable.values()];
  const get = reads.get(access.key, () =>
    getStatement(table, slots(key, access), rule, output, catalog, preview),
  );
  const counted = countedRead(execution, get, [execution.values, key]);
  const results = await read(execution, counted.statements, get.exact ? "short" : "long");
  const isExact = counted.isExact(results);
  const row = results[0]!.rows[0];
  if (row === undefined) {
    execution.tally.add(0);
    return notFound;
  }
  const [admitted, json, probed] = row;
  execution.tally.add(isExact ? 1 + (probed as number) : null);
  if (admitted !== 1) return deniedBy(table, "read");
  return json === null ? tooLarge : finishRows(json as string, output);
}

/** Creates a row. Returns it as JSON text with the columns that the caller may see, or why it was not created. */
export function createRow(
  target: WriteTarget,
  execution: WriteExecution,
  values: RowValues,
): Promise<string | Refusal> {
  return writeRow(insertOf(target, values, execution), execution);
}

/** Changes a row. Returns it as JSON text with the columns that the caller may see, or why it was not changed. */
export function updateRow(
  target: WriteTarget,
  execution: WriteExecution,
  key: RowValues,
  patch: RowValues,
): Promise<string | Refusal> {
  return writeRow(updateOf(target, key, patch, execution), execution);
}

/** Deletes a row. Returns its primary key as JSON text, or why it was not deleted. */
export function deleteRow(
  target: WriteTarget,
  execution: WriteExecution,
  key: RowValues,
): Promise<string | Refusal> {
  return writeRow(deleteOf(target, key), execution);
}

/** Two statements of the server's own in the same transaction as a write: one before it and one after it. */
export interface BesideWrite {
  /**
   * The random text by which an error shows that `before` has undone the transaction (`abortText`). Such an error is
   * thrown on, and not made a refusal.
   */
  readonly nonce: string;
  /** The statement before the write. It may undo the transaction. */
  readonly before: Statement;
  /** The statement right after the write. */
  readonly after: Statement;
}

/**
 * Carries out a write of one row. Returns the row as JSON text with the columns that the caller may see, or why it was
 * not written.
 */
export async function writeRow(
  write: RowWrite | Refusal,
  execution: WriteExecution,
  beside: BesideWrite | null = null,
): Promise<string | Refusal> {
  if (isRefusal(write)) return write;
  const outcome = await carryOut(write, execution, beside);
  switch (outcome.outcome) {
    case "written":
      return outcome.json;
    case "refused":
      return outcome.refusal;
    case "not_written":
      return write.kind === "insert"
        ? deniedBy(write.access.table, "create")
        : deniedOrMissing(write, execution, write.kind, outcome.isThere);
  }
}

type RowWriteOutcome =
  | { readonly outcome: "written"; readonly json: string }
  /**
   * No row was written: the rule denies the write, or there is no such row. Where `isThere` is true, the row is known
   * to exist, or was to be inserted, so it is the rule that denies.
   */
  | { readonly outcome: "not_written"; readonly isThere: boolean }
  | { readonly outcome: "refused"; readonly refusal: Refusal };

const refused = (refusal: Refusal): RowWriteOutcome => ({ outcome: "refused", refusal });

async function carryOut(
  write: RowWrite,
  execution: WriteExecution,
  beside: BesideWrite | null,
): Promise<RowWriteOutcome> {
  const { kind, access, statement } = write;
  const { database, tally, plans, nowMs } = execution;
  const triggers = triggersOf(write);
  const values = [execution.values, ...write.values];
  const sent = sentWrite(write, execution);
  try {
    const question = plans.questionOf(sent.bound, nowMs);
    const [open, close] = triggers.logged
      ? [[openTransaction(execution.changedBy())], closeTransaction]
      : [[], []];
    const [first, last] = beside === null ? [[], []] : [[beside.before], [beside.after]];
    const statements = [
      ...first,
      ...sent.probes,
      ...open,
      ...sent.statements,
      ...last,
      ...close,
      ...question.statements,
    ];
    const results = await tally.during(database.batch(statements, longWorkOf(execution, durationOf(write))));
    const exact = question.isExact(results);
    const from = first.length;
    const at = from + sent.probes.length + open.length;
    const closed = results[at + sent.statements.length + last.length + close.length - 1]!;
    const entries = triggers.logged ? entriesIn(closed) : 0;
    const written = sent.read(results.slice(from, from + sent.probes.length), results[at]!);
    if (written.row === null && triggers.ignore) {
      const [admitted] = await read(
        execution,
        [bind(statement.admitted, values)],
        statement.exact ? "short" : "long",
      );
      if (admitted!.rows.length > 0) {
        tally.add(null);
        return refused(ignored);
      }
    }
    if (written.row === null) {
      const isThere = kind === "insert" || written.probed !== null;
      if (isThere) tally.add(exact ? ownReads(write) + (written.probed ?? 0) : null);
      return { outcome: "not_written", isThere };
    }
    tally.add(
      exact ? rowsReadBy(write, written) : null,
      logicalRows(triggers, written.rowsWritten - entries),
    );
    return { outcome: "written", json: finishRows(written.row.json, [...access.table.columns.values()]) };
  } catch (error) {
    if (beside !== null && isAbort(error, beside.nonce)) throw error;
    const refusal = await refusalOfError(error, write, execution);
    if (refusal === null) throw error;
    // The write was rolled back, so it cannot report how many rows it had read. The number is known only where a
    // violated constraint ends a write that looks up nothing but the row itself: no trigger runs, and neither its rule
    // nor the read rule has an `exists`. (The read rule is evaluated before a violated foreign key is found.)
    const isOwn =
      statement.probes === null && statement.seeks.every(({ alias }) => alias === access.table.name);
    const isKnown = error instanceof ConstraintError && isOwn && statement.exact && !triggers.run;
    tally.add(isKnown ? ownReads(write) : null);
    return refused(refusal);
  }
}

/**
 * The refusal of an update or a delete that changed no row: 403 where the row exists, 404 where it does not. Where it
 * is not known yet whether it exists, one more statement looks for it.
 */
async function deniedOrMissing(
  { access, key }: RowWrite,
  execution: Execution,
  action: "update" | "delete",
  isThere: boolean,
): Promise<Refusal> {
  if (isThere) {
    // One more row counts as read: the statement that counted the look-ups of the rule has read the row, too.
    execution.tally.add(1);
    return deniedBy(access.table, action);
  }
  const presence = presenceStatement(access.table, slots(key!, access), access.catalog);
  const [result] = await read(execution, [bind(presence, [key!])], "short");
  const found = result!.rows.length > 0;
  // Two rows count as read: the write's statement has read the row, and the statement that looks for it has read it
  // again.
  execution.tally.add(found ? 2 : 0);
  return found ? deniedBy(access.table, action) : notFound;
}
