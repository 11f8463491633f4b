import { Refusal } from "../http/refusal.js";
import type { ConstraintError, ConstraintKind } from "../platform/database.js";

/** A broken constraint as the caller's error: never SQL, never a 500 (specification, section 7; interface, section 4). */
export function constraintRefusal({ kind }: ConstraintError): Refusal {
  const [code, message] = refusals[kind];
  return new Refusal(code, message);
}

const refusals: Record<ConstraintKind, readonly ["bad_request" | "conflict", string]> = {
  not_null: ["bad_request", "a column that must have a value has none"],
  check: ["bad_request", "a value breaks a check of the table"],
  datatype: ["bad_request", "a value is not of its column's type"],
  trigger: ["bad_request", "a trigger of the table refuses this"],
  unique: ["conflict", "a row with the same key or unique values exists"],
  foreign_key: [
    "conflict",
    "a reference does not hold: the row that it names is missing, or rows still refer to this one",
  ],
};
