import { imageBytes } from "../../changes/image.js";
import { Refusal } from "../../http/refusal.js";
import type { Memo } from "../../platform/memo.js";
import type { Access } from "../access/access.js";
import type { WriteExecution } from "../execution/execution.js";
import type { RowValues } from "../request/row-request.js";
import { deleteStatement, type Precondition, updateStatement } from "../sql/change.js";
import { insertStatement, rowidCheck } from "../sql/insert.js";
import { stagedValue } from "../sql/kept-answers.js";
import type { Returned } from "../sql/returning.js";
import { imageCheck } from "../sql/row.js";
import { referredValue, type Values } from "../sql/row-key.js";
import type { WriteStatement } from "../sql/write-statement.js";
import { Slot, type SlotValues, type Sql } from "../sql-text/fragment.js";
import { withManaged } from "./managed-values.js";

/** What makes the statements of writes: the caller's access, and the statements of earlier requests. */
export interface WriteTarget {
  readonly access: Access;
  readonly writes: Memo<WriteStatement>;
}

/** A write of one row: its statement, which also tests the rule, and the values of the request. */
export interface RowWrite {
  readonly kind: "insert" | "update" | "delete";
  readonly access: Access;
  readonly statement: WriteStatement;
  /** The request's values for the statement; those of the caller are added when it is sent. */
  readonly values: readonly SlotValues[];
  /** The values that the request gives to columns; for a delete the key's. */
  readonly sent: RowValues;
  /** The key of the row that an update or a delete is about; null for an insert. */
  readonly key: RowValues | null;
  /**
   * Statements directly after the write that fail, and so undo it, where the row was written but cannot be kept: its
   * rowid is too high, or its image is too large for the log of changes.
   */
  readonly checks: readonly Sql[];
  /** What the request expects of the row before it is changed or deleted; null where it expects nothing. */
  readonly expected: Expected | null;
}

/** What a request expects of a row before it is changed or deleted. A row that does not meet it is left as it is. */
export type Expected =
  /** The caller may read the row. */
  | { readonly kind: "readable" }
  /** The row has one of these versions, which are integers as texts (RFC 9110, section 13.1.1). */
  | { readonly kind: "versions"; readonly versions: readonly string[] }
  /** The row has these values in these columns. */
  | { readonly kind: "values"; readonly values: RowValues };

/**
 * Makes placeholders (`Slot`) for the values of columns, so that other requests can use the same statement with other
 * values. `prefix` begins the names of the placeholders, so that values of columns for different purposes can be told
 * apart. A column of `referred` gets the value that an earlier write of the same transaction has made, whatever
 * `values` has for it.
 */
export function slots(values: RowValues, { table }: Access, prefix = "", referred: Referred = nothingReferred): Values {
  return new Map(
    [...values.keys()].map((name) => [
      table.columns.get(name)!,
      referred.has(name) ? stagedValue(new Slot(ref + name)) : new Slot(prefix + name),
    ]),
  );
}

/**
 * As `slots`, for the values that a write gives to columns. A column of `Access.callerOrNull` gets the id of the caller
 * by a look-up in the table that it refers to.
 */
export function writtenSlots(values: RowValues, access: Access, referred: Referred = nothingReferred): Values {
  const given = [...slots(values, access, "", referred)];
  return new Map(
    given.map(([column, slot]) => [column, access.callerOrNull.has(column) ? referredValue(column, slot) : slot]),
  );
}

/** The columns whose values come from earlier writes of the transaction, each with the name of its value there. */
export type Referred = ReadonlyMap<string, string>;

/** Used for writes whose values are all in the request: no column refers to an earlier write. */
const nothingReferred: Referred = new Map();

const ref = "ref.";

function referredValues(referred: Referred): readonly SlotValues[] {
  return referred.size === 0 ? [] : [new Map([...referred].map(([column, name]) => [ref + column, name]))];
}

/** The key by which other requests for the same columns find the statement; null where none can use it. */
function shapeOf(
  { key }: Access,
  values: RowValues | null,
  expected: Expected | null,
  referred: Referred,
): string | null {
  if (key === null) return null;
  const columns = values === null ? "" : `\n${[...values.keys()].join()}`;
  const condition = expected === null ? "" : `\n${expectedShape(expected)}`;
  const refs = referred.size === 0 ? "" : `\nrefers ${[...referred.keys()].join()}`;
  return key + columns + condition + refs;
}

function expectedShape(expected: Expected): string {
  return expected.kind === "values" ? `values ${[...expected.values.keys()].join()}` : expected.kind;
}

/** Makes the write that creates a row. A refusal where the row would be too large for the log of changes. */
export function insertOf(
  { access, writes }: WriteTarget,
  sent: RowValues,
  execution: WriteExecution,
  referred: Referred = nothingReferred,
): RowWrite | Refusal {
  const { table, catalog, rule, managed } = access;
  if (isOverImage(sent, access)) return tooLargeImage;
  const given = withManaged("insert", managed, sent, execution);
  const statement = writes.get(shapeOf(access, given, null, referred), () =>
    insertStatement(table, writtenSlots(given, access, referred), rule, returnedOf(access, sent), catalog),
  );
  const values = [given, ...referredValues(referred)];
  // A rowid that comes from an earlier write of the transaction is checked by a statement after the insert. A rowid in
  // the request was checked before (`createValues`).
  const { rowid } = catalog.tables.get(table.name)!;
  const checks = rowid !== null && referred.has(rowid) ? [rowidCheck()] : [];
  return { kind: "insert", access, statement, values, sent, key: null, checks, expected: null };
}

/** Makes the write that changes a row. A refusal where the new values alone are too large for the log of changes. */
export function updateOf(
  { access, writes }: WriteTarget,
  key: RowValues,
  sent: RowValues,
  execution: WriteExecution,
  expected: Expected | null = null,
  referred: Referred = nothingReferred,
): RowWrite | Refusal {
  const { table, catalog, rule, managed } = access;
  if (isOverImage(sent, access)) return tooLargeImage;
  const patch = withManaged("update", managed, sent, execution);
  const statement = writes.get(shapeOf(access, patch, expected, referred), () =>
    updateStatement({
      table,
      key: slots(key, access, "", referred),
      patch: writtenSlots(patch, access, referred),
      rule,
      returned: returnedOf(access, sent),
      catalog,
      precondition: preconditionOf(expected, access),
    }),
  );
  const checks = imageChecks(patch, key, access, referred);
  const values = [key, patch, ...expectedValues(expected), ...referredValues(referred)];
  return { kind: "update", access, statement, values, sent, key, checks, expected };
}

/** Makes the write that deletes a row. */
export function deleteOf(
  { access, writes }: WriteTarget,
  key: RowValues,
  expected: Expected | null = null,
  referred: Referred = nothingReferred,
): RowWrite {
  const { table, catalog, rule } = access;
  const statement = writes.get(shapeOf(access, null, expected, referred), () =>
    deleteStatement(table, slots(key, access, "", referred), rule, catalog, preconditionOf(expected, access)),
  );
  const values = [key, ...expectedValues(expected), ...referredValues(referred)];
  return { kind: "delete", access, statement, values, sent: key, key, checks: [], expected };
}

const base = "base.";

function preconditionOf(expected: Expected | null, access: Access): Precondition | null {
  if (expected === null) return null;
  const { readRule, table } = access;
  if (expected.kind === "readable") return { readRule, expected: null };
  if (expected.kind === "values")
    return { readRule, expected: { kind: "values", values: slots(expected.values, access, base) } };
  const column = managedVersion(access);
  if (column === null) throw new Error(`the table ${table.name} has no versions`);
  return { readRule, expected: { kind: "version", column } };
}

function expectedValues(expected: Expected | null): readonly SlotValues[] {
  if (expected === null || expected.kind === "readable") return [];
  return expected.kind === "versions"
    ? [new Map([["versions", JSON.stringify(expected.versions)]])]
    : [new Map([...expected.values].map(([column, value]) => [base + column, value]))];
}

/** The column that holds the versions of a table's rows; null where there is none. */
export function managedVersion({ managed }: Pick<Access, "managed">) {
  return managed.find((column) => column.managed === "version") ?? null;
}

/**
 * Whether the values of a write alone make an image that the log cannot hold. A row with such an image could be
 * written, but neither changed nor deleted afterwards.
 */
export function isOverImage(values: RowValues, { table, catalog }: Access): boolean {
  const { imageBytesMax } = catalog;
  return table.historyDays !== null && imageBytesMax !== null && imageBytes(values.values()) > imageBytesMax;
}

/**
 * Statements for directly after an update that check whether the log of changes can still hold the row's image; none
 * where the update cannot make it too large.
 */
export function imageChecks(
  patch: RowValues,
  key: RowValues,
  access: Access,
  referred: Referred = nothingReferred,
): readonly Sql[] {
  const { table, catalog } = access;
  const { imageBytesMax } = catalog;
  return imageBytesMax !== null && needsImageCheck(patch, access)
    ? [imageCheck(table, slots(key, access, "", referred), catalog, imageBytesMax)]
    : [];
}

/**
 * Whether an update may make the row's image too large together with the columns that it leaves as they are. It counts
 * as harmless with at most 1,000 bytes of values. The database takes 100,000 bytes more than the log's bound, which
 * even 100 columns, as many as a row may have, cannot use up by such updates.
 */
function needsImageCheck(patch: RowValues, { table }: Access): boolean {
  return table.historyDays !== null && imageBytes(patch.values()) > 1_000;
}

/** The answer 413, for a row whose image the log of changes cannot hold. */
export const tooLargeImage = new Refusal(
  "payload_too_large",
  "the row would be too large for the log of changes: its values as JSON, blobs twice as long",
);

/**
 * The row that is shown for a write, as JSON text. A statement that creates several rows returns the same columns of all
 * of them. A write-only key is shown only those that it has sent for this row.
 */
export function asSent(json: string, { access, sent }: Pick<RowWrite, "access" | "sent">): string {
  return access.writeOnlyKey ? withColumns(json, new Set([...access.table.primaryKey, ...sent.keys()])) : json;
}

/** The JSON text of a row, with those of its columns alone that are among `columns`. */
export function withColumns(json: string, columns: { readonly has: (name: string) => boolean }): string {
  const members = Object.entries(JSON.parse(json));
  return members.every(([name]) => columns.has(name))
    ? json
    : JSON.stringify(Object.fromEntries(members.filter(([name]) => columns.has(name))));
}

/**
 * What a write returns: the columns of the whole row that the caller may read, where the read rule admits the row; else
 * the primary key, and for a write-only API key also the columns that it sent
 * (`docs/reference/rules.md#what-a-write-returns`).
 */
export function returnedOf(access: Access, sent: RowValues): Returned {
  const { columns, primaryKey } = access.table;
  const shown = access.writeOnlyKey ? [...sent.keys()] : [];
  const minimal = [...new Set([...primaryKey, ...shown])].map((name) => columns.get(name)!);
  return { rule: access.readRule, full: [...access.readable.values()], minimal, preview: access.preview };
}
