import { badRequest, Refusal } from "../../http/refusal.js";
import type { ConstraintError } from "../../platform/database.js";
import type { Table } from "../../project/model.js";
import type { CatalogTable } from "../../schema/catalog.js";
import { sameFragment } from "../../sqlite/fragment.js";
import type { RowValues } from "./row-request.js";

/** A write that the database refused because it broke a constraint. */
export interface RefusedWrite {
  readonly kind: "insert" | "update" | "delete";
  readonly table: Table;
  readonly physical: CatalogTable;
  /** The columns that the request gives values to; for a delete the values of the key. */
  readonly written: RowValues;
  readonly readable: ReadonlyMap<string, unknown>;
}

/**
 * The 4xx answer for a broken constraint (`docs/reference/errors.md#constraints`). The message never holds SQL. It
 * names columns and checks only where the caller may read all columns that are involved.
 */
export function constraintRefusal(error: ConstraintError, write: RefusedWrite): Refusal {
  switch (error.kind) {
    case "not_null":
      return badRequest(`a column that must have a value has none${listed(columnsIn(error, write), write)}`);
    case "unique": {
      const message = "a row with the same key or unique values exists";
      return new Refusal("conflict", message + listed(columnsIn(error, write), write));
    }
    case "datatype":
      return badRequest("a value is not of its column's type");
    case "trigger":
      return badRequest(error.detail ?? "a trigger of the table refuses this");
    case "check":
      return badRequest(brokenCheck(error, write));
    case "foreign_key":
      return new Refusal("conflict", brokenReference(write));
  }
}

function mayRead(columns: readonly string[], { readable }: RefusedWrite): boolean {
  return columns.every((column) => readable.has(column));
}

/**
 * The columns as the end of a message, such as `: owner_id, name`; empty where there are none, or the caller may not
 * read one of them.
 */
function listed(columns: readonly string[], write: RefusedWrite): string {
  return columns.length > 0 && mayRead(columns, write) ? `: ${columns.join(", ")}` : "";
}

/**
 * The columns in SQLite's message, such as `UNIQUE constraint failed: rooms.owner_id, rooms.name`. Empty where the
 * message names none, or columns of another table.
 */
function columnsIn({ message }: ConstraintError, { table }: RefusedWrite): readonly string[] {
  const [, list] = /^(?:NOT NULL|UNIQUE) constraint failed: (\w+\.\w+(?:, \w+\.\w+)*)$/.exec(message) ?? [];
  const names = list?.split(", ").map((name) => name.split(".")) ?? [];
  return names.every(([of]) => of === table.name) ? names.map(([, column]) => column!) : [];
}

function brokenCheck({ detail }: ConstraintError, write: RefusedWrite): string {
  const { checks } = write.physical;
  const check =
    checks.find(({ name }) => name !== null && name === detail) ??
    checks.find(({ sql }) => sameFragment(sql, detail));
  if (check === undefined || !mayRead(check.columns, write)) return "a value breaks a check of the table";
  return check.name === null
    ? `a value breaks a check of the table${listed(check.columns, write)}`
    : `a value breaks the check ${JSON.stringify(check.name)}`;
}

const missing = "a reference does not hold: the row that it names is missing";
const referredTo = "a reference does not hold: rows still refer to this one";

/** SQLite does not say which foreign key was broken, so the message names all that the write may have broken. */
function brokenReference(write: RefusedWrite): string {
  const { kind, physical } = write;
  const keys = physical.foreignKeys.filter((columns) => mayBreak(columns, write));
  const both = `${missing}, or rows still refer to this one`;
  if (physical.triggers[kind].run) return both;
  if (kind === "delete" || keys.length === 0) return kind === "insert" ? both : referredTo;
  const sentence = kind === "insert" || !changesKey(write) ? missing : both;
  if (!mayRead(keys.flat(), write)) return sentence;
  if (keys.length === 1) return `${sentence}: ${keys[0]!.join(", ")}`;
  const names = keys.map((columns) => (columns.length === 1 ? columns[0] : `(${columns.join(", ")})`));
  return `${sentence}: one of ${names.join(", ")}`;
}

/**
 * Whether a write may have broken the foreign key of these columns. A foreign key that has NULL in any of its columns
 * is never broken.
 */
function mayBreak(key: readonly string[], { kind, table, written }: RefusedWrite): boolean {
  const values = key.map((name) => {
    const column = table.columns.get(name);
    const value = written.get(name);
    const isKept = kind === "update" || column === undefined || column.default !== null;
    return { isWritten: value !== undefined, isNull: value === undefined ? !isKept : value === null };
  });
  return (
    values.every(({ isNull }) => !isNull) && (kind === "insert" || values.some(({ isWritten }) => isWritten))
  );
}

/** Whether an update sets a column of a unique key, to which rows of other tables may refer. */
function changesKey({ table, physical, written }: RefusedWrite): boolean {
  const keys = [
    ...table.unique,
    ...physical.indexes.filter(({ unique }) => unique).map(({ columns }) => columns.map(({ name }) => name)),
  ];
  return keys.some((columns) => columns.some((column) => written.has(column)));
}
