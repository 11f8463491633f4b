import type { Column, Table } from "../../project/model.js";
import { quoteName } from "../../sqlite/sql-tokens.js";
import { conversion } from "./conversion.js";
import { defaultSql } from "./ddl.js";

/** The value of a column after the change, over the table as it is before. */
export function valueAfter(column: Column, current: Table): string {
  const before = current.columns.get(column.name);
  if (before === undefined) return column.default === null ? "NULL" : defaultSql(column.default);
  if (before.type === column.type) return quoteName(column.name);
  return conversion(quoteName(column.name), before.type, column.type)?.value ?? "NULL";
}

/** The table as it will be, as a FROM term over the table as it is: what a new constraint is tried on. */
export function imageAfter(current: Table, target: Table): string {
  const columns = [...target.columns.values()].map(
    (column) => `${valueAfter(column, current)} AS ${quoteName(column.name)}`,
  );
  return `(SELECT ${columns.join(", ")} FROM ${quoteName(current.name)})`;
}

export function countRows(from: string, condition?: string): string {
  return `SELECT count(*) FROM ${from}${condition === undefined ? "" : ` WHERE ${condition}`}`;
}

/** Rows that share a key with an earlier one; a NULL equals nothing. */
export function countDuplicates(from: string, columns: readonly string[], where: string | null): string {
  const names = columns.map(quoteName);
  const conditions = [
    ...names.map((name) => `${name} IS NOT NULL`),
    ...(where === null ? [] : [`(${where})`]),
  ];
  const groups = `SELECT count(*) - 1 AS extra FROM ${from} WHERE ${conditions.join(" AND ")} GROUP BY ${names.join(", ")}`;
  return `SELECT coalesce(sum(extra), 0) FROM (${groups})`;
}

/** Rows whose reference leads nowhere. Without a parent all that are not NULL do. */
export function countOrphans(
  from: string,
  column: string,
  parent: string | null,
  parentColumn: string,
): string {
  const value = `child.${quoteName(column)}`;
  const unmatched =
    parent === null
      ? ""
      : ` AND NOT EXISTS (SELECT 1 FROM ${parent} AS parent WHERE parent.${quoteName(parentColumn)} = ${value})`;
  return `SELECT count(*) FROM ${from} AS child WHERE ${value} IS NOT NULL${unmatched}`;
}
