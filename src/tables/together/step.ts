import { badRequest, Refusal } from "../../http/refusal.js";
import type { Result, Statement } from "../../platform/database.js";
import type { TriggersReached } from "../../schema/triggers-reached.js";
import { deniedBy } from "../access.js";
import type { Duration, WriteExecution } from "../execution.js";
import type { CountedStatement } from "../plan-check.js";
import { ignored } from "../row/refused-write.js";
import { beyondNumbers, notFound } from "../row/row-request.js";
import type { RowWrite } from "../row/row-write.js";
import {
  durationOf,
  logicalRows,
  rowsReadBy,
  sentWrite,
  triggersOf,
  type WrittenRow,
} from "../row/sent-write.js";
import { bind, type SlotValues } from "../sql/fragment.js";
import type { AnswerSource } from "../sql/kept-answers.js";
import type { NotWritten } from "../sql/row.js";

/** One of several writes in one transaction. Where it may not be done, it undoes the whole transaction. */
export interface WriteStep {
  /**
   * Makes the step's statements, with guards that undo the batch where the step may not be done. Their reasons begin
   * with `abort`.
   */
  readonly statements: (abort: string) => readonly Statement[];
  /** Reads the results of the step's statements. */
  readonly read: (results: readonly Result[]) => StepOutcome;
  /** Why the step was not done, given the reason of the guard that has undone the batch. */
  readonly refused: (reason: string) => NotStanding;
  /** The writes that the step may do: if the database refuses the step, the error of one of them tells why. */
  readonly writes: readonly RowWrite[];
  readonly duration: Duration;
  /** What only a step that writes several rows has. */
  readonly parts?: StepParts;
  /** How the step's answer is kept for a repetition of the request. */
  readonly answer: StepAnswer;
  /** The statements whose query plans tell whether the number of rows that they examine is known. */
  readonly asked: readonly CountedStatement[];
}

/** How the answer of a step is found by a statement after the step, or before a delete. */
export interface StepAnswer {
  /** Where the step's answer is read from; null where the written row cannot be found again. */
  readonly source: AnswerSource | null;
  readonly isBefore: boolean;
  /** Statements before the step that keep what the answer says of the state before it (in `_staged`). */
  readonly first?: readonly Statement[];
  readonly values: readonly SlotValues[];
}

/** A row that a step answers with. */
export interface StepRow {
  /** The row as JSON text, not in its final form yet (`finishRows`). Null for a row that may not be read. */
  readonly json: string | null;
  readonly isNew: boolean;
}

/** What a step of a transaction has done. */
export interface StepOutcome {
  readonly rows: readonly StepRow[];
  /** The write that was done; null where none was, because the row existed already. */
  readonly write: RowWrite | null;
  /** The statements of `WriteStep.asked` that `rowsRead` depends on. */
  readonly asked: readonly CountedStatement[];
  /** How many rows were read, provided that SQLite finds them in the expected way; null where unknown. */
  readonly rowsRead: number | null;
  /** How many rows were written as SQLite counts, with the entries of the log of changes. */
  readonly rowsWritten: number;
}

/** What only a step has that writes several rows by one statement. */
export interface StepParts {
  readonly count: number;
  /** Makes the same step for the first `count` rows alone. */
  readonly first: (count: number) => WriteStep;
  /** The write of one of the rows as if it were alone. */
  readonly write: (index: number) => RowWrite;
}

/** Why a step was not done, so that the transaction was undone. */
export interface NotStanding {
  /** The index of the row that is to blame, of a step that writes several. */
  readonly part?: number;
  readonly refusal: Refusal;
  /** The columns of the row that are not what the request expects; null where that is not the reason. */
  readonly differing: readonly string[] | null;
}

/** Makes the step for a write of one row. */
export function writeStep(write: RowWrite, execution: Pick<WriteExecution, "values">): WriteStep {
  const sent = sentWrite(write, execution);
  const { probes, statements, bound } = sent;
  return {
    statements: (abort) => [
      ...probes,
      statements[0]!,
      guardAfter(write, abort, execution),
      ...write.checks.map((check) =>
        bind(check, [new Map([["abort", abort]]), execution.values, ...write.values]),
      ),
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

/** The statement after a write that undoes the batch where the write has not written its row. */
function guardAfter(write: RowWrite, abort: string, { values }: Pick<WriteExecution, "values">): Statement {
  return bind(write.statement.guard(), [new Map([["abort", abort]]), values, ...write.values]);
}

/** The outcome of a write that has written its row. */
export function outcomeOf(
  write: RowWrite,
  written: WrittenRow,
  asked: readonly CountedStatement[],
): StepOutcome {
  return {
    rows: [{ json: written.row!.json, isNew: write.kind === "insert" }],
    write,
    asked,
    rowsRead: rowsReadBy(write, written),
    rowsWritten: written.rowsWritten,
  };
}

/** Why a write has not written its row, from the reason that its guard gives (`NotWritten`). */
export function notStanding({ kind, access, expected }: RowWrite, reason: string): NotStanding {
  const [why, digits = ""] = reason.split(":");
  const because = (refusal: Refusal): NotStanding => ({ refusal, differing: null });
  const action = kind === "insert" ? "create" : kind;
  switch (why as NotWritten | "unreferred") {
    case "missing":
      return because(notFound);
    // What a client expects of a row can be compared only with a row that the client may read.
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

/** The answer 400 for a `$ref` that names nothing, or what the caller may not read. */
export const unknownReference = badRequest(
  "a $ref names nothing that an earlier operation has answered with",
);

const stale = new Refusal("precondition_failed", "the row is of another version by now");
const changed = new Refusal("conflict", "the row was changed by someone else");

/** What the owner's triggers do for each write of the steps. */
export function triggersOfSteps(steps: readonly WriteStep[]): readonly TriggersReached[] {
  return steps.flatMap(({ writes }) => writes.map(triggersOf));
}

/** `rows_written` of a step. `entries` is how many entries of the log are among the rows that SQLite counts. */
export function rowsWrittenBy({ write, rows, rowsWritten }: StepOutcome, entries: number): number | null {
  return write === null ? 0 : logicalRows(triggersOf(write), rowsWritten - entries, rows.length);
}
