import { abortText } from "../../platform/abort.js";
import { AbortError } from "../../platform/database.js";
import type { Column } from "../../project/model.js";
import { type ListPlan, wideIn } from "../plan/list-plan.js";
import { carried, integer, name, type Sql, sql } from "../sql-text/fragment.js";
import { page } from "./page-slots.js";
import { storedBytes } from "./wire.js";

/** Not a secret, as no write is undone by it. */
const nonce = "0".repeat(32);
const failed: Sql = { text: `json_extract('{}', '${abortText(nonce, "long value")}')`, params: [] };

/** Whether a statement has ended at a value that is longer than it allows. */
export function isLongValue(error: unknown): boolean {
  return error instanceof AbortError && error.nonce === nonce;
}

/**
 * Makes a condition that is always TRUE, but ends the statement with an error where the texts, JSON and blobs in these
 * columns of a row have more than `bytesMax` bytes together. Null where none of the columns holds such values. SQLite
 * knows the lengths without reading the values.
 */
function areShort(columns: readonly Column[], alias: Sql, bytesMax: Sql): Sql | null {
  if (wideIn(columns).length === 0) return null;
  const bytes = storedBytes(columns, ({ name: column }) => sql`${alias}.${name(column)}`);
  return sql`CASE WHEN ${bytes} > ${bytesMax} THEN ${failed} ELSE 1 END`;
}

/** The column of a page that holds how many bytes the row's texts, JSON and blobs have, where these are sought later. */
export const bytesColumn: Sql = { text: '"_bytes"', params: [] };

/** The columns of a list's answer that are read only after the rows of the page are known; empty for none. */
export function soughtIn({ wide, output }: Pick<ListPlan, "wide" | "output">): readonly Column[] {
  return wide === "sought" ? wideIn(output) : [];
}

/** The SQL of how many bytes the values of `soughtIn` have in the row of an alias. */
export function soughtBytes(plan: Pick<ListPlan, "wide" | "output">, alias: Sql): Sql {
  return storedBytes(soughtIn(plan), ({ name: column }) => sql`${alias}.${name(column)}`);
}

/**
 * Makes the conditions for a scan of a list's rows by which the statement ends at a row with long values, of those that
 * the scan reads (`columns`): `WideValues` and `ListPlan.comparedBytesMax`.
 */
export function shortRows(plan: ListPlan, alias: Sql, columns: readonly Sql[]): readonly Sql[] {
  const { wide, output, comparedBytesMax, table } = plan;
  const isRead = (column: Column) => columns.some(({ text }) => text === carried(column.name).text);
  // What is scanned only to be counted is not part of the page.
  const inPage = wide === "short" && wideIn(output).every(isRead) ? output : [];
  const compared =
    comparedBytesMax === null
      ? []
      : [...table.columns.values()].filter((column) => isRead(column) && !inPage.includes(column));
  return [
    areShort(inPage, alias, shareOfRow(plan, 1)),
    areShort(compared, alias, integer(comparedBytesMax ?? 0)),
  ].filter((condition) => condition !== null);
}

/**
 * As `shortRows`, for the rows of a step of a list's expansions, with these columns. Each row of the page leads to at
 * most `rows` of them.
 */
export function shortExpanded(plan: ListPlan, alias: Sql, columns: readonly Column[], rows: number): readonly Sql[] {
  const condition = plan.wide === "short" ? areShort(columns, alias, shareOfRow(plan, rows)) : null;
  return condition === null ? [] : [condition];
}

/** How many bytes a row may have so that all rows of a page fit, if each row of the page leads to `rows` such rows. */
function shareOfRow({ catalog }: ListPlan, rows: number): Sql {
  return sql`${integer(Math.floor(catalog.pageBytesMax / rows))} / (${page.limit} + 1)`;
}
