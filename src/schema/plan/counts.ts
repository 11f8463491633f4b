import { quoteName } from "../../sqlite/sql-tokens.js";

/** A query that counts the rows of a FROM term, or those for which the condition is TRUE. */
export function countRows(from: string, condition?: string): string {
  return `SELECT count(*) FROM ${from}${condition === undefined ? "" : ` WHERE ${condition}`}`;
}

/**
 * A query that counts rows with the same values in `columns` as another row, beyond the first of each group. Rows
 * with NULL in them are not counted.
 */
export function countDuplicates(from: string, columns: readonly string[], where: string | null): string {
  const names = columns.map(quoteName);
  const conditions = [
    ...names.map((name) => `${name} IS NOT NULL`),
    ...(where === null ? [] : [`(${where})`]),
  ];
  const groups = `SELECT count(*) - 1 AS extra FROM ${from} WHERE ${conditions.join(" AND ")} GROUP BY ${names.join(", ")}`;
  return `SELECT coalesce(sum(extra), 0) FROM (${groups})`;
}

/**
 * A query that counts rows whose reference (the value of `column`) finds no row in `parent`. Null as `parent` stands
 * for a table without rows: every reference that is not NULL counts.
 */
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
