import type { Column, Table } from "../../project/model.js";
import type { CatalogTable } from "../../schema/catalog.js";
import { type ColumnName, systemColumnName } from "../../sqlite/names.js";
import type { SortTerm } from "../request/list-request.js";
import type { Param } from "../sql-text/fragment.js";

/** One column of a total order of rows, which gives every row its own place. */
export interface OrderTerm {
  readonly column: OrderColumn;
  readonly descending: boolean;
  /** Whether the column can hold NULL. As in SQLite, NULLs come first in ascending and last in descending order. */
  readonly nullable: boolean;
}

/** A column that rows are ordered by: one of the table's, its rowid, or the rank of a full-text search. */
export type OrderColumn = Pick<Column, "name" | "type">;

/** The column for the rank of rows that a full-text search has found (`Match.ranks`); no table has its name. */
export const rank = systemColumnName("_rank");

/** A place in the order of rows: a value for each term, which may be a slot unless it is NULL. */
export type Key = readonly Param[];

/** Returns the rowid as a column of an order, by the name that SQL has to use for it in this table. */
function rowidColumn(name: ColumnName): OrderColumn {
  return { name, type: "integer" };
}

/**
 * Returns the order that was asked for, followed by the primary key in ascending order, so that no two rows have the
 * same place (`docs/reference/http.md#order`). The rowid is added where the key does not tell all rows apart.
 */
export function totalOrder(
  table: Table,
  sort: readonly SortTerm[],
  physical: Pick<CatalogTable, "rowid" | "indexes"> | undefined,
): readonly OrderTerm[] {
  const rowid = physical?.rowid ?? null;
  const isNullable = (column: OrderColumn) => column.name !== rowid && !table.columns.get(column.name)!.notNull;
  const key: readonly OrderColumn[] = table.primaryKey.map((column) => table.columns.get(column)!);
  // Whether the primary key tells all rows apart. Tables that are not STRICT may allow NULL in it, and any number of
  // rows can have NULL. And the key's index may compare in another collation than its columns do.
  const isTotal = key.length > 0 && (rowid === null || (isUniqueKey(table, physical!) && !key.some(isNullable)));
  const terms: OrderTerm[] = sort.map(({ column, descending }) => ({
    column,
    descending,
    nullable: isNullable(column),
  }));
  for (const column of isTotal || rowid === null ? key : [...key, rowidColumn(rowid)])
    if (!terms.some((term) => term.column.name === column.name))
      terms.push({ column, descending: false, nullable: isNullable(column) });
  return isTotal ? withoutRedundantTail(table, terms) : terms;
}

function isUniqueKey({ primaryKey }: Table, { rowid, indexes }: Pick<CatalogTable, "rowid" | "indexes">): boolean {
  return (
    primaryKey.join() === rowid ||
    indexes.some(
      ({ unique, columns }) =>
        unique && columns.length === primaryKey.length && columns.every(({ name }) => primaryKey.includes(name)),
    )
  );
}

/**
 * Drops the terms of an order that come after the last column of the primary key: no two rows are equal in all columns
 * before, so later terms decide nothing.
 */
function withoutRedundantTail(table: Table, terms: readonly OrderTerm[]): readonly OrderTerm[] {
  const missing = new Set<string>(table.primaryKey);
  const end = terms.findIndex(({ column }) => missing.delete(column.name) && missing.size === 0);
  return terms.slice(0, end + 1);
}
