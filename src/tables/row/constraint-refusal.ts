import { Refusal } from "../../http/refusal.js";
import type { ConstraintError } from "../../platform/database.js";
import { callerReference } from "../../project/managed.js";
import type { Table } from "../../project/model.js";
import type { CatalogTable } from "../../schema/catalog.js";
import { sameFragment } from "../../sqlite/fragment.js";
import type { RowValues } from "../request/row-request.js";

/** A write that the database refused because it violated a constraint. */
export interface RefusedWrite {
  readonly kind: "insert" | "update" | "delete";
  readonly table: Table;
  readonly physical: CatalogTable;
  /** The values that the request and the server give, by columns; for a delete those of the key. */
  readonly written: RowValues;
  readonly readable: ReadonlyMap<string, unknown>;
}

/**
 * The 4xx answer for a violated constraint (`docs/reference/errors.md#constraints`). The message never holds SQL. It
 * names columns and checks only where the caller may read all columns that are involved. The answer's `columns` are
 * those of the constraint, where it is certain which one it was.
 */
export function constraintRefusal(error: ConstraintError, write: RefusedWrite): Refusal {
  const { code, message, constraints, named, isOpen } = broken(error, write);
  const mayRead = constraints.flat().every((column) => write.readable.has(column));
  if (!mayRead) return new Refusal(code, message);
  const [only, ...others] = constraints;
  const isCertain = only !== undefined && others.length === 0 && isOpen !== true;
  return new Refusal(code, named ?? message + listed(constraints), isCertain ? { columns: only } : {});
}

/** Which constraint a write has violated, as far as SQLite says. */
interface Broken {
  readonly code: "bad_request" | "conflict";
  /** The message that every caller may see; it names no columns. */
  readonly message: string;
  /** The columns of each constraint that may have been violated. */
  readonly constraints: readonly (readonly string[])[];
  /** The message for who may read all of `constraints`; by default `message` and the columns. */
  readonly named?: string;
  /** Whether something other than one of `constraints` may have been violated. */
  readonly isOpen?: boolean;
}

function broken(error: ConstraintError, write: RefusedWrite): Broken {
  switch (error.kind) {
    case "not_null": {
      const message = "a column needs a value, and has none or null";
      return { code: "bad_request", message, constraints: [columnsIn(error, write)] };
    }
    case "unique": {
      const message = "a row with the same key or unique values exists";
      return { code: "conflict", message, constraints: [columnsIn(error, write)] };
    }
    case "datatype": {
      const message = "a value is not of its column's type";
      return { code: "bad_request", message, constraints: [columnsIn(error, write)] };
    }
    case "trigger": {
      const message = error.detail ?? "a trigger of the table refuses this";
      return { code: "bad_request", message, constraints: [] };
    }
    case "check":
      return { code: "bad_request", ...brokenCheck(error, write) };
    case "foreign_key":
      return { code: "conflict", ...brokenReference(write) };
  }
}

/** Columns as the end of a message, such as `: owner_id, name` or `: one of room, (secret, owner)`. */
function listed(constraints: Broken["constraints"]): string {
  const [only, ...others] = constraints;
  if (only === undefined || only.length === 0) return "";
  if (others.length === 0) return `: ${only.join(", ")}`;
  const each = constraints.map((columns) => (columns.length === 1 ? columns[0] : `(${columns.join(", ")})`));
  return `: one of ${each.join(", ")}`;
}

/**
 * The columns in SQLite's message about a violated constraint, such as `UNIQUE constraint failed: rooms.owner_id,
 * rooms.name`. Empty where the message names none, or columns of another table.
 */
function columnsIn({ message }: ConstraintError, { table }: RefusedWrite): readonly string[] {
  const [, list] =
    /^(?:(?:NOT NULL|UNIQUE) constraint failed:|cannot store \w+ value in \w+ column) (\w+\.\w+(?:, \w+\.\w+)*)$/.exec(
      message,
    ) ?? [];
  const names = list?.split(", ").map((name) => name.split(".")) ?? [];
  return names.every(([of]) => of === table.name) ? names.map(([, column]) => column!) : [];
}

function brokenCheck({ detail }: ConstraintError, { physical }: RefusedWrite): Omit<Broken, "code"> {
  const { checks } = physical;
  const check =
    checks.find(({ name }) => name !== null && name === detail) ?? checks.find(({ sql }) => sameFragment(sql, detail));
  const message = "a value breaks a check of the table";
  if (check === undefined) return { message, constraints: [] };
  const constraints = [check.columns];
  return check.name === null
    ? { message, constraints }
    : { message, constraints, named: `a value breaks the check ${JSON.stringify(check.name)}` };
}

const missing = "a reference does not hold: the row that it names has to be created first";
const referredTo = "a reference does not hold: rows still refer to this one, so change or delete these first";
const missingOrReferredTo = `${missing}, or rows still refer to this one`;

/**
 * Describes the reference that a write has broken: a message, and the foreign keys that the write may have violated,
 * because SQLite does not say which one it was. It gives no foreign keys for a delete, or where triggers run, which may
 * have violated one of another table.
 */
function brokenReference(write: RefusedWrite): Omit<Broken, "code"> {
  const { kind, physical } = write;
  const keys = physical.foreignKeys.filter((columns) => mayBreak(columns, write));
  if (physical.triggers[kind].run) return { message: missingOrReferredTo, constraints: [] };
  if (kind === "delete" || keys.length === 0)
    return { message: kind === "insert" ? missingOrReferredTo : referredTo, constraints: [] };
  const isOpen = kind === "update" && changesKey(write);
  const message = isOpen ? missingOrReferredTo : missing;
  const callers = keys.flatMap((columns) => callerHint(columns, write.table));
  return { message, constraints: keys, named: [message + listed(keys), ...callers].join("; "), isOpen };
}

/** What the caller can do about a foreign key whose value the server sets to the id of the caller; else empty. */
function callerHint(key: readonly string[], { columns }: Table): readonly string[] {
  const column = key.length === 1 ? columns.get(key[0]!) : undefined;
  const reference = column === undefined ? null : callerReference(column);
  return reference === null
    ? []
    : [`${column!.name} is your id, and has to be the ${reference.column} of a row of ${reference.table}`];
}

/**
 * Whether a write may have violated the foreign key of these columns. A foreign key with NULL in any of its columns is
 * never violated. A column that the table of the schema does not have is a generated one: it may change with others.
 */
function mayBreak(key: readonly string[], { kind, table, written }: RefusedWrite): boolean {
  const values = key.map((name) => {
    const column = table.columns.get(name);
    const value = written.get(name);
    const isKept = kind === "update" || column === undefined || column.default !== null;
    return {
      isWritten: value !== undefined || column === undefined,
      isNull: value === undefined ? !isKept : value === null,
    };
  });
  return values.every(({ isNull }) => !isNull) && (kind === "insert" || values.some(({ isWritten }) => isWritten));
}

/**
 * Whether an update changes a unique key, to which rows of other tables may refer. A key with a generated column counts
 * as changed, because that column may change with others.
 */
function changesKey({ table, physical, written }: RefusedWrite): boolean {
  const keys = [
    ...table.unique,
    ...physical.indexes.filter(({ unique }) => unique).map(({ columns }) => columns.map(({ name }) => name)),
  ];
  return keys.some((columns) => columns.some((column) => written.has(column) || !table.columns.has(column)));
}
