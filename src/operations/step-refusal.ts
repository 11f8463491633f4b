import { badRequest, Refusal } from "../http/refusal.js";
import { ConstraintError, MemoryError, StatementError } from "../platform/database.js";
import type { NamedOperation } from "../project/model.js";
import { tooLargeValue } from "../sqlite/bounded-expressions.js";
import { noRow, returnedRowsMax, tooManyRows } from "../tables/sql/operation.js";
import { isTooLargeImage } from "../tables/sql/row.js";
import { denied } from "./allowed.js";

/** The reason of a guard for undoing an operation's batch: the operation's rule does not allow it. */
export const notAllowed = "allow";

/**
 * The reason of a guard for undoing an operation's batch because of a step. By default the step has changed or found
 * another number of rows than expected; else `of` says what is wrong with its rows.
 */
export function stepReason(index: number, of = "expect"): string {
  return `${index}:${of}`;
}

/** The refusal for a reason that `notAllowed` or `stepReason` has given. */
export function refusalOf(operation: NamedOperation, reason: string): Refusal {
  if (reason === notAllowed) return denied(operation);
  const [index, of] = reason.split(":");
  const { otherwise, message } = operation.steps[Number(index)]!;
  const options = { step: Number(index), facts: { rule: `$operations.${operation.name} step ${index}` } };
  switch (of) {
    case noRow:
      return new Refusal("not_found", "there is no such row", options);
    case tooManyRows:
      return new Refusal("bad_request", `the operation would answer with more than ${returnedRowsMax} rows`, options);
    case "expect":
      return new Refusal(otherwise, message ?? words[otherwise], options);
    default:
      return new Refusal("bad_request", "the rows are too large for an answer", options);
  }
}

const words = {
  conflict: "a step of the operation did not find what it expects, so nothing was done",
  not_found: "a step of the operation did not find its row, so nothing was done",
  forbidden: "a step of the operation does not allow it, so nothing was done",
  bad_request: "a step of the operation cannot be done with these parameters, so nothing was done",
} as const;

/**
 * The refusal for an error of the database: a broken constraint, a row that is too large, or SQL that cannot be
 * evaluated with these values. Its message names no column, because an operation may write tables that its caller
 * cannot read. Null if the error is no fault of the request.
 */
export function stepErrorRefusal(error: unknown): Refusal | null {
  if (error instanceof ConstraintError) return constraintRefusal(error);
  if (error instanceof MemoryError) return tooLarge;
  if (!(error instanceof StatementError)) return null;
  if (error.message.includes(tooLargeValue)) return tooLarge;
  if (error.message.includes("too many levels of trigger recursion"))
    return badRequest("this leads to too many changes of other rows, each by the one before");
  if (isTooLargeImage(error.message))
    return new Refusal("payload_too_large", "a value, or a row, is larger than the database takes");
  return badRequest("a step of the operation cannot be evaluated with these values");
}

const tooLarge = badRequest("a step of the operation makes a value that is too large");

function constraintRefusal({ kind, detail }: ConstraintError): Refusal {
  switch (kind) {
    case "not_null":
      return badRequest("a column needs a value, and has none or null");
    case "datatype":
      return badRequest("a value is not of its column's type");
    case "check":
      return badRequest("a value breaks a check of a table");
    case "trigger":
      return badRequest(detail ?? "a trigger of a table refuses this");
    case "unique":
      return new Refusal("conflict", "a row with the same key or unique values exists");
    case "foreign_key":
      return new Refusal(
        "conflict",
        "a reference does not hold: a row that a step names is missing, or rows still refer to one that it changes or deletes",
      );
  }
}
