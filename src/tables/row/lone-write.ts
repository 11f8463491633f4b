import { closeTransaction, entriesIn, openTransaction } from "../../changes/transactions.js";
import type { Refusal } from "../../http/refusal.js";
import { isAbort } from "../../platform/abort.js";
import { ConstraintError, type Statement } from "../../platform/database.js";
import { deniedBy } from "../access/access.js";
import { type Execution, longWorkOf, read, type WriteExecution } from "../execution/execution.js";
import { notFound } from "../request/row-request.js";
import { finishRows } from "../sql/finish-rows.js";
import { presenceStatement } from "../sql/row.js";
import { bind } from "../sql-text/fragment.js";
import { ignored, refusalOfError } from "./refused-write.js";
import { type RowWrite, slots } from "./row-write.js";
import { durationOf, logicalRows, ownReads, rowsReadBy, type SentWrite, sentWrite, triggersOf } from "./sent-write.js";

/** A write that is alone in its transaction, and its statements. */
export interface LoneWrite {
  readonly write: RowWrite;
  readonly sent: SentWrite;
}

/** Makes the statements of a write that is alone in its transaction. */
export function loneWrite(write: RowWrite, execution: Pick<WriteExecution, "values">): LoneWrite {
  return { write, sent: sentWrite(write, execution) };
}

/** Two statements of the server's own in the same transaction as a write: one before it and one after it. */
export interface ExtraStatements {
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
 * Carries out a write that is alone in its transaction. Returns the row as JSON text with the columns that the caller
 * may see, or why it was not written.
 */
export async function writeAlone(
  { write, sent }: LoneWrite,
  execution: WriteExecution,
  extra: ExtraStatements | null = null,
): Promise<string | Refusal> {
  const outcome = await carryOut(write, sent, execution, extra);
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
  sent: SentWrite,
  execution: WriteExecution,
  extra: ExtraStatements | null,
): Promise<RowWriteOutcome> {
  const { kind, access, statement } = write;
  const { database, tally, plans, nowMs } = execution;
  const triggers = triggersOf(write);
  const values = [execution.values, ...write.values];
  try {
    const question = plans.questionOf(sent.bound, nowMs);
    const [open, close] = triggers.logged ? [[openTransaction(execution.changedBy())], closeTransaction] : [[], []];
    const [first, last] = extra === null ? [[], []] : [[extra.before], [extra.after]];
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
      const [admitted] = await read(execution, [bind(statement.admitted, values)], statement.exact ? "short" : "long");
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
    tally.add(exact ? rowsReadBy(write, written) : null, logicalRows(triggers, written.rowsWritten - entries));
    return { outcome: "written", json: await finishRows(written.row.json, [...access.table.columns.values()]) };
  } catch (error) {
    if (extra !== null && isAbort(error, extra.nonce)) throw error;
    const refusal = await refusalOfError(error, write, execution);
    if (refusal === null) throw error;
    // The write was rolled back, so it cannot report how many rows it had read. The number is known only where a
    // violated constraint ends a write that looks up nothing but the row itself: no trigger runs, and neither its rule
    // nor the read rule has an `exists`. (The read rule is evaluated before a violated foreign key is found.)
    const isOwn = statement.probes === null && statement.seeks.every(({ alias }) => alias === access.table.name);
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
