import { badRequest, Refusal } from "../../http/refusal.js";
import type { Result, Statement } from "../../platform/database.js";
import type { TriggersReached } from "../../schema/physical/triggers-reached.js";
import { deniedBy } from "../access/access.js";
import type { Duration, WriteExecution } from "../execution/execution.js";
import type { CountedStatement } from "../plan/plan-check.js";
import { beyondNumbers, notFound } from "../request/row-request.js";
import { type LoneWrite, loneWrite } from "../row/lone-write.js";
import { ignored } from "../row/refused-write.js";
import type { RowWrite } from "../row/row-write.js";
import { durationOf, logicalRows, rowsReadBy, triggersOf, type WrittenRow } from "../row/sent-write.js";
import type { AnswerSource } from "../sql/kept-answers.js";
import type { NotWritten } from "../sql/write-statement.js";
import { bind, type SlotValues } from "../sql-text/fragment.js";

/** One of several writes of a transaction. If it may not be done, its statements undo the transaction. */
export interface WriteStep {
  /**
   * Makes the statements that carry out this write, with guards that undo the transaction where it may not be done. The
   * reason that a guard gives begins with `abort`.
   */
  readonly statements: (abort: string) => readonly Statement[];
  /** Reads what this write has done from the results of its statements. */
  readonly read: (results: readonly Result[]) => StepOutcome;
  /** Tells why this write was not done. `reason` is what the guard gave, without `abort`. */
  readonly refused: (reason: string) => NotStanding;
  /**
   * The writes that this step may come to, such as an update or an insert. If the database refuses the step with an
   * error, one of these writes explains the error.
   */
  readonly writes: readonly RowWrite[];
  readonly duration: Duration;
  /** Only for a step that creates several rows by one statement: how to make it for some of the rows. */
  readonly parts?: StepParts;
  /** How the answer of this step is read to be kept for a repetition of the request. */
  readonly answer: StepAnswer;
  /**
   * Statements of this step whose query plans are asked for: the number of rows that they have examined is known only
   * if SQLite finds the rows as expected.
   */
  readonly asked: readonly CountedStatement[];
  /** Only for a step that can be carried out alone with fewer statements (`writeAlone`): its write. */
  readonly alone?: LoneWrite;
}

/**
 * How the answer of a step is read from the database, to be kept for a repetition of the request: after the step, or
 * for a delete before it (`isBefore`).
 */
export interface StepAnswer {
  /** The SQL that reads the answer of a step; null where the written row cannot be found again. */
  readonly source: AnswerSource | null;
  readonly isBefore: boolean;
  /**
   * Statements to run before the step, which put aside in `_staged` what the answer has to say about the state before
   * it, such as whether the row existed.
   */
  readonly first?: readonly Statement[];
  readonly values: readonly SlotValues[];
}

/** A row with which a step of a transaction is answered. */
export interface StepRow {
  /**
   * The row as JSON text, in which reals and blobs do not have their final form yet (`finishRows`). Null for a row that
   * the caller may not read.
   */
  readonly json: string | null;
  readonly isNew: boolean;
}

/** What a step of a transaction has done. */
export interface StepOutcome {
  readonly rows: readonly StepRow[];
  /** The write that the step has come to; null where an upsert has left an existing row as it is. */
  readonly write: RowWrite | null;
  /**
   * Those statements of `WriteStep.asked` that were needed for this outcome: `rowsRead` is known only if SQLite finds
   * their rows as expected.
   */
  readonly asked: readonly CountedStatement[];
  /** How many rows the step has read, if SQLite finds them in the expected way; null where that is unknown. */
  readonly rowsRead: number | null;
  /** How many rows were written as SQLite counts, with the entries that triggers add to the log of changes. */
  readonly rowsWritten: number;
}

/** What a step has that creates several rows by one statement, beside what every step has. */
export interface StepParts {
  readonly count: number;
  /** Makes a step that creates only the first rows, to find the one that the database refuses. */
  readonly first: (count: number) => WriteStep;
  /** The write that would create the row with this index by itself. It serves to explain an error of the database. */
  readonly write: (index: number) => RowWrite;
}

/** Why a step could not be done, which has undone the whole transaction. */
export interface NotStanding {
  /** For a step that creates several rows, the index of the row to blame. */
  readonly part?: number;
  readonly refusal: Refusal;
  /** The columns that have other values than expected; null where that was not the reason. */
  readonly differing: readonly string[] | null;
}

/** Makes the step for a write of a single row. */
export function writeStep(write: RowWrite, execution: Pick<WriteExecution, "values">): WriteStep {
  return stepOf(loneWrite(write, execution), execution);
}

function stepOf({ write, sent }: LoneWrite, execution: Pick<WriteExecution, "values">): WriteStep {
  const { probes, statements, bound } = sent;
  return {
    statements: (abort) => [
      ...probes,
      statements[0]!,
      guardAfter(write, abort, execution),
      ...write.checks.map((check) => bind(check, [new Map([["abort", abort]]), execution.values, ...write.values])),
    ],
    read: (results) => {
      const written = sent.read(results.slice(0, probes.length), results[probes.length]!);
      return outcomeOf(write, written, [bound]);
    },
    refused: (reason) => notStanding(write, reason),
    writes: [write],
    duration: durationOf(write),
    answer: {
      source: write.statement.answer,
      isBefore: write.kind === "delete",
      values: [execution.values, ...write.values],
    },
    asked: [bound],
  };
}

/**
 * Makes the step of a request that writes a single row and nothing else. Without an expectation it can be carried out
 * alone: if it is refused, that may take one more round trip, and if not, it takes fewer statements.
 */
export function onlyStep(write: RowWrite, execution: Pick<WriteExecution, "values">): WriteStep {
  const alone = loneWrite(write, execution);
  const step = stepOf(alone, execution);
  return write.expected === null ? { ...step, alone } : step;
}

/** The statement to run right after a write: it undoes the transaction where the write has not written its row. */
function guardAfter(write: RowWrite, abort: string, { values }: Pick<WriteExecution, "values">): Statement {
  return bind(write.statement.guard(), [new Map([["abort", abort]]), values, ...write.values]);
}

/** The outcome of a step whose write has written its row. */
export function outcomeOf(write: RowWrite, written: WrittenRow, asked: readonly CountedStatement[]): StepOutcome {
  return {
    rows: [{ json: written.row!.json, isNew: write.kind === "insert" }],
    write,
    asked,
    rowsRead: rowsReadBy(write, written),
    rowsWritten: written.rowsWritten,
  };
}

/** Turns the reason that a write's guard gives (`NotWritten`) into the refusal that the caller is answered with. */
function notStanding({ kind, access, expected }: RowWrite, reason: string): NotStanding {
  const [why, digits = ""] = reason.split(":");
  const because = (refusal: Refusal): NotStanding => ({ refusal, differing: null });
  const action = kind === "insert" ? "create" : kind;
  switch (why as NotWritten | "unreferred") {
    case "missing":
      return because(notFound);
    // What a client expects of a row is compared only with a row that the client may read. If it may not, the answer is
    // 404 where the client has sent expected values, and 403 where it has sent versions.
    case "unreadable":
      return because(expected?.kind === "values" ? notFound : deniedBy(access.table, "read"));
    case "denied":
      return because(deniedBy(access.table, action));
    case "stale":
      return because(stale);
    case "changed": {
      const columns = expected?.kind === "values" ? [...expected.values.keys()] : [];
      const differing = columns.filter((_, i) => digits[i] === "1");
      return { refusal: changed, differing };
    }
    case "unreferred":
      return because(unknownReference);
    case "ignored":
      return because(ignored);
    case "unnumbered":
      return because(beyondNumbers(access.catalog.tables.get(access.table.name)!.rowid!));
  }
}

/**
 * The refusal (400) of a `$ref` in a write: it names nothing that an earlier write of the request answers with, or a
 * value that the caller may not read.
 */
export const unknownReference = badRequest("a $ref names nothing that an earlier operation has answered with");

const stale = new Refusal("precondition_failed", "the row is of another version by now");
const changed = new Refusal("conflict", "the row was changed by someone else");

/** What the owner's and the server's triggers do, for each write that the steps may come to. */
export function triggersOfSteps(steps: readonly WriteStep[]): readonly TriggersReached[] {
  return steps.flatMap(({ writes }) => writes.map(triggersOf));
}

/**
 * The metered number `rows_written` of a step; null where it is unknown. `entries` is how many of the rows that SQLite
 * counts are entries of the log of changes, which are not metered.
 */
export function rowsWrittenBy({ write, rows, rowsWritten }: StepOutcome, entries: number): number | null {
  return write === null ? 0 : logicalRows(triggersOf(write), rowsWritten - entries, rows.length);
}
