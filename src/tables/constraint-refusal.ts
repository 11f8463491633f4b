import { Refusal } from "../http/refusal.js";
import type { ConstraintError, ConstraintKind } from "../platform/database.js";

/**
 * A broken constraint as the caller's error: never SQL, never a 500 (specification, section 7; interface, section 4). It
 * names columns where all of those that are meant are the table's, and the caller may read them.
 */
export function constraintRefusal(
  error: ConstraintError,
  table: string,
  readable: ReadonlyMap<string, unknown>,
): Refusal {
  const [code, message] = refusals[error.kind];
  const columns = columnsIn(error, table);
  const named = columns.length > 0 && columns.every((column) => readable.has(column));
  return new Refusal(code, named ? `${message}: ${columns.join(", ")}` : message);
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

/** SQLite's own words, such as `UNIQUE constraint failed: rooms.owner_id, rooms.name`. */
function columnsIn({ kind, message }: ConstraintError, table: string): readonly string[] {
  if (kind !== "not_null" && kind !== "unique") return [];
  const [, list] = /^(?:NOT NULL|UNIQUE) constraint failed: (\w+\.\w+(?:, \w+\.\w+)*)$/.exec(message) ?? [];
  const names = list?.split(", ").map((name) => name.split(".")) ?? [];
  return names.every(([of]) => of === table) ? names.map(([, column]) => column!) : [];
}
