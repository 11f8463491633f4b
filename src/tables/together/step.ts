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

/** One of several writes that are carried out in one transaction. It stands or undoes the transaction. */
export interface WriteStep {
  /**
   * The statements, with guards that undo the batch where the step may not stand. Their reasons begin with `abort`.
   */
  readonly statements: (abort: string) => readonly Statement[];
  /** Reads the results of `statements`. */
  readonly read: (results: readonly Result[]) => StepOutcome;
  /** Why it does not stand, for a reason that one of its guards has given. */
  readonly refused: (reason: string) => NotStanding;
  /** The writes that it may do: what went wrong with one of them tells why the database has refused the step. */
  readonly writes: readonly RowWrite[];
  readonly duration: Duration;
  /** Of a step that writes several rows. */
  readonly parts?: StepParts;
  /** What is kept of its answer for a repetition of the request. */
  readonly answer: StepAnswer;
  /** The statements whose plans tell whether the rows that they examine are known. */
  readonly asked: readonly CountedStatement[];
}

/** How the answer of a step is found by a statement after it, or before a delete. */
export interface StepAnswer {
  /** Null where the row cannot be found again. */
  readonly source: AnswerSource | null;
  readonly isBefore: boolean;
  /** Statements before the step that keep what the answer tells of the state before it (`_staged`). */
  readonly first?: readonly Statement[];
  readonly values: readonly SlotValues[];
}

/** A row that a step answers with. */
export interface StepRow {
  /** JSON text, not finished yet (`finishRows`). Null for a row that may not be read. */
  readonly json: string | null;
  readonly isNew: boolean;
}

/** What a step has done. */
export interface StepOutcome {
  readonly rows: readonly StepRow[];
  /** The write that was done; null where none was, because the row was there. */
  readonly write: RowWrite | null;
  /** Those of `WriteStep.asked` on which `rowsRead` hangs. */
  readonly asked: readonly CountedStatement[];
  /** Rows read, provided that SQLite goes the expected way; null where unknown. */
  readonly rowsRead: number | null;
  /** As SQLite counts, with the entries of the log. */
  readonly rowsWritten: number;
}

/** A step that writes several rows by one statement. */
export interface StepParts {
  readonly count: number;
  /** The same step for the first rows alone. */
  readonly first: (count: number) => WriteStep;
  /** The write that one of the rows would be by itself. */
  readonly write: (index: number) => RowWrite;
}

/** Why a step does not stand. */
export interface NotStanding {
  /** Which row of the step is to blame, where it writes several. */
  readonly part?: number;
  readonly refusal: Refusal;
  /** The columns of the row that are not what the request expects; null where that is not why. */
  readonly differing: readonly string[] | null;
}

/** The step that a write of one row is. */
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

/** What a write has done that has written its row. */
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

/** Why a write has not written its row, as its guard tells (`NotWritten`). */
export function notStanding({ kind, access, expected }: RowWrite, reason: string): NotStanding {
  const [why, digits = ""] = reason.split(":");
  const because = (refusal: Refusal): NotStanding => ({ refusal, differing: null });
  const action = kind === "insert" ? "create" : kind;
  switch (why as NotWritten | "unreferred") {
    case "missing":
      return because(notFound);
    // What a client knows of a row can be compared only with a row that it may read.
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

/** The answer 400 for a `$ref` to what is not there, or may not be read. */
export const unknownReference = badRequest(
  "a $ref names nothing that an earlier operation has answered with",
);

const stale = new Refusal("precondition_failed", "the row is of another version by now");
const changed = new Refusal("conflict", "the row was changed by someone else");

/** Together what the owner's triggers do for the writes of steps. */
export function triggersOfSteps(steps: readonly WriteStep[]): readonly TriggersReached[] {
  return steps.flatMap(({ writes }) => writes.map(triggersOf));
}

/** `rows_written` of a step. `entries` is how many entries of the log are among the rows that SQLite counts. */
export function rowsWrittenBy({ write, rows, rowsWritten }: StepOutcome, entries: number): number | null {
  return write === null ? 0 : logicalRows(triggersOf(write), rowsWritten - entries, rows.length);
}
