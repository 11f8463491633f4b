import { carriedName } from "../../sqlite/names.js";
import { quoteName } from "../../sqlite/sql-tokens.js";

/** Counts the rows of `from` (a table's quoted name, or a subquery), or only those for which the condition is TRUE. */
export function countRows(from: string, condition?: string): string {
  return `SELECT count(*) FROM ${from}${condition === undefined ? "" : ` WHERE ${condition}`}`;
}

/**
 * Counts the rows of a subquery that prevent `columns` from being unique: of each group of rows with the same values in them, all
 * rows but one. Rows with NULL in one of the columns do not count, nor do rows for which `where` is not TRUE.
 */
export function countDuplicates(from: string, columns: readonly string[], where: string | null): string {
  const names = columns.map((name) => quoteName(carriedName(name)));
  const conditions = [...names.map((name) => `${name} IS NOT NULL`), ...(where === null ? [] : [`(${where})`])];
  const groups = `SELECT count(*) - 1 AS extra FROM ${from} WHERE ${conditions.join(" AND ")} GROUP BY ${names.join(", ")}`;
  return `SELECT coalesce(sum(extra), 0) FROM (${groups})`;
}

/**
 * Counts the rows of the subquery `from` whose reference, the value of `column`, finds no row in the subquery `parent`. If `parent` is null, it
 * has no rows, so every reference that is not NULL counts.
 */
export function countOrphans(from: string, column: string, parent: string | null, parentColumn: string): string {
  const value = `child.${quoteName(carriedName(column))}`;
  const unmatched =
    parent === null
      ? ""
      : ` AND NOT EXISTS (SELECT 1 FROM ${parent} AS parent WHERE parent.${quoteName(carriedName(parentColumn))} = ${value})`;
  return `SELECT count(*) FROM ${from} AS child WHERE ${value} IS NOT NULL${unmatched}`;
}
