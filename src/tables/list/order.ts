import type { Column, Table } from "../../project/model.js";
import type { CatalogTable } from "../../schema/catalog.js";
import type { ColumnName } from "../../sqlite/names.js";
import type { Param } from "../sql/fragment.js";
import type { SortTerm } from "./list-request.js";

/** One term of a total order. */
export interface OrderTerm {
  readonly column: OrderColumn;
  readonly descending: boolean;
  /** Whether NULLs can occur; they sort first ascending, last descending, as SQLite does. */
  readonly nullable: boolean;
}

/** A column, or the rowid where a table has no primary key. */
export type OrderColumn = Pick<Column, "name" | "type">;

/** A place in the order: a value for each of its terms. NULL is NULL already; what else it is may be given later. */
export type Key = readonly Param[];

function rowidColumn(name: ColumnName): OrderColumn {
  return { name, type: "integer" };
}

/** The order that was asked for, made total by the primary key, ascending (interface, section 4). */
export function totalOrder(
  table: Table,
  sort: readonly SortTerm[],
  physical: Pick<CatalogTable, "rowid" | "indexes"> | undefined,
): readonly OrderTerm[] {
  const rowid = physical?.rowid ?? null;
  const isNullable = (column: OrderColumn) =>
    column.name !== rowid && !table.columns.get(column.name)!.notNull;
  const key: readonly OrderColumn[] = table.primaryKey.map((column) => table.columns.get(column)!);
  // A key that may be NULL, as old tables allow, is none: NULLs do not equal one another. Nor is one whose index tells values
  // apart that its columns hold for equal.
  const isTotal =
    key.length > 0 && (rowid === null || (isUniqueKey(table, physical!) && !key.some(isNullable)));
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

function isUniqueKey(
  { primaryKey }: Table,
  { rowid, indexes }: Pick<CatalogTable, "rowid" | "indexes">,
): boolean {
  return (
    primaryKey.join() === rowid ||
    indexes.some(
      ({ unique, columns }) =>
        unique &&
        columns.length === primaryKey.length &&
        columns.every(({ name }) => primaryKey.includes(name)),
    )
  );
}

/** Behind the whole primary key nothing can tie. */
function withoutRedundantTail(table: Table, terms: readonly OrderTerm[]): readonly OrderTerm[] {
  const missing = new Set<string>(table.primaryKey);
  const end = terms.findIndex(({ column }) => missing.delete(column.name) && missing.size === 0);
  return terms.slice(0, end + 1);
}
