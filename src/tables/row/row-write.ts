import { imageBytes } from "../../changes/image.js";
import { Refusal } from "../../http/refusal.js";
import type { Memo } from "../../platform/memo.js";
import type { Access } from "../access.js";
import type { WriteExecution } from "../execution.js";
import { Slot, type SlotValues, type Sql } from "../sql/fragment.js";
import { stagedValue } from "../sql/kept-answers.js";
import type { Returned } from "../sql/returning.js";
import {
  deleteStatement,
  imageCheck,
  insertStatement,
  type Precondition,
  rowidCheck,
  updateStatement,
  type WriteStatement,
} from "../sql/row.js";
import type { Values } from "../sql/row-key.js";
import { withManaged } from "./managed-values.js";
import type { RowValues } from "./row-request.js";

/** What it takes to make the statements of writes to a table: the caller's access, and statements of earlier requests. */
export interface WriteTarget {
  readonly access: Access;
  readonly writes: Memo<WriteStatement>;
}

/** A write of one row: its statement, which also tests the rule, and the values of the request. */
export interface RowWrite {
  readonly kind: "insert" | "update" | "delete";
  readonly access: Access;
  readonly statement: WriteStatement;
  /** The values for the statement, beside those of the caller. */
  readonly values: readonly SlotValues[];
  /** The values that the request gives to columns; of a delete the key. */
  readonly sent: RowValues;
  /** Of an update or a delete. */
  readonly key: RowValues | null;
  /** Statements that fail where the write must not stand. They come directly after it. */
  readonly checks: readonly Sql[];
  /** What the request takes the row to be; null where it takes it as it is. */
  readonly expected: Expected | null;
}

/** What a request takes a row to be. Where it is otherwise, the row is left as it is. */
export type Expected =
  /** It has one of these versions, which are integers as texts (RFC 9110, section 13.1.1). */
  | { readonly kind: "versions"; readonly versions: readonly string[] }
  /** Its columns have these values. */
  | { readonly kind: "values"; readonly values: RowValues };

/**
 * A placeholder for each column that is filled when the statement is sent (`Slot`), so that other requests can use the
 * statement with other values. `prefix` tells the values of one purpose from those of another. A column of `referred`
 * gets the value that an earlier write of the same transaction has made, whatever `values` has for it.
 */
export function slots(
  values: RowValues,
  { table }: Access,
  prefix = "",
  referred: Referred = nothingReferred,
): Values {
  return new Map(
    [...values.keys()].map((name) => [
      table.columns.get(name)!,
      referred.has(name) ? stagedValue(new Slot(ref + name)) : new Slot(prefix + name),
    ]),
  );
}

/** For columns whose values earlier writes of the same transaction make: the names under which those are kept. */
export type Referred = ReadonlyMap<string, string>;

/** For writes whose values all stand in the request. */
export const nothingReferred: Referred = new Map();

const ref = "ref.";

function referredValues(referred: Referred): readonly SlotValues[] {
  return referred.size === 0 ? [] : [new Map([...referred].map(([column, name]) => [ref + column, name]))];
}

/**
 * The key under which the statement of an insert or update is kept for other requests: those that write the same
 * columns share it. Null where it cannot be shared.
 */
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
  return expected.kind === "versions" ? "versions" : `values ${[...expected.values.keys()].join()}`;
}

/** The write that creates a row, or the refusal of one that is too large. */
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
    insertStatement(table, slots(given, access, "", referred), rule, returnedOf(access, sent), catalog),
  );
  const values = [given, ...referredValues(referred)];
  // The other values were checked before (`createValues`).
  const { rowid } = catalog.tables.get(table.name)!;
  const checks = rowid !== null && referred.has(rowid) ? [rowidCheck()] : [];
  return { kind: "insert", access, statement, values, sent, key: null, checks, expected: null };
}

/** The write that changes a row, or the refusal of one that is too large. */
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
    updateStatement(
      table,
      slots(key, access, "", referred),
      slots(patch, access, "", referred),
      rule,
      returnedOf(access, sent),
      catalog,
      preconditionOf(expected, access),
    ),
  );
  const checks = imageChecks(patch, key, access, referred);
  const values = [key, patch, ...expectedValues(expected), ...referredValues(referred)];
  return { kind: "update", access, statement, values, sent, key, checks, expected };
}

/** The write that deletes a row. */
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
  if (expected.kind === "values")
    return { readRule, expected: { kind: "values", values: slots(expected.values, access, base) } };
  const column = managedVersion(access);
  if (column === null) throw new Error(`the table ${table.name} has no versions`);
  return { readRule, expected: { kind: "version", column } };
}

function expectedValues(expected: Expected | null): readonly SlotValues[] {
  if (expected === null) return [];
  return expected.kind === "versions"
    ? [new Map([["versions", JSON.stringify(expected.versions)]])]
    : [new Map([...expected.values].map(([column, value]) => [base + column, value]))];
}

/** The column that holds the versions of a table's rows; null where none does. */
export function managedVersion({ managed }: Pick<Access, "managed">) {
  return managed.find((column) => column.managed === "version") ?? null;
}

/**
 * Whether the values of a write alone make an image that the log cannot hold. The row could be written, but neither
 * changed nor deleted afterwards.
 */
export function isOverImage(values: RowValues, { table, catalog }: Access): boolean {
  const { imageBytesMax } = catalog;
  return table.historyDays !== null && imageBytesMax !== null && imageBytes(values.values()) > imageBytesMax;
}

/** The statements that check, directly after an update, that the log can still hold the row's image. */
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
 * Whether an update may make the row's image too large together with the columns that it leaves as they are. Not those
 * whose values have a hundredth of what is left between the bound and what the database takes: the 100 columns that a row
 * may have cannot pass it so.
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
 * What a write returns: the row where the read rule admits it, else its primary key; to a write-only API key also the
 * columns that it sent (`docs/reference/rules.md#what-a-write-returns`).
 */
export function returnedOf(access: Access, sent: RowValues): Returned {
  const { columns, primaryKey } = access.table;
  const shown = access.writeOnlyKey ? [...sent.keys()] : [];
  const minimal = [...new Set([...primaryKey, ...shown])].map((name) => columns.get(name)!);
  return { rule: access.readRule, full: [...access.readable.values()], minimal, preview: access.preview };
}
