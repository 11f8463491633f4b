import type { SqlValue } from "../platform/database.js";
import type { Column, Table } from "../project/model.js";
import type { columnName } from "../project/names.js";
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

/** A place in the order: a value for each of its terms. */
export type Key = readonly SqlValue[];

/**
 * The rowid as a column. SQLite gives it three names, and no column of a project can be called `_rowid_`, as names
 * begin with a letter.
 */
export const rowid: OrderColumn = { name: "_rowid_" as ReturnType<typeof columnName>, type: "integer" };

/** The order that was asked for, made total by the primary key, ascending (interface, section 4). */
export function totalOrder(table: Table, sort: readonly SortTerm[]): readonly OrderTerm[] {
  const terms: OrderTerm[] = sort.map(({ column, descending }) => ({
    column,
    descending,
    nullable: !column.notNull,
  }));
  const tail =
    table.primaryKey.length === 0 ? [rowid] : table.primaryKey.map((key) => table.columns.get(key)!);
  for (const column of tail)
    if (!terms.some((term) => term.column.name === column.name))
      terms.push({ column, descending: false, nullable: isNullable(table, column) });
  return withoutRedundantTail(table, terms);
}

function isNullable(table: Table, column: OrderColumn): boolean {
  if (column === rowid) return false;
  const isIntegerKey = table.primaryKey.length === 1 && column.type === "integer";
  return !isIntegerKey && !table.columns.get(column.name)!.notNull;
}

/** Behind the whole primary key nothing can tie. */
function withoutRedundantTail(table: Table, terms: readonly OrderTerm[]): readonly OrderTerm[] {
  const missing = new Set<string>(table.primaryKey);
  if (missing.size === 0) return terms;
  const end = terms.findIndex(({ column }) => missing.delete(column.name) && missing.size === 0);
  return terms.slice(0, end + 1);
}
