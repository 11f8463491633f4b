import { quoteName } from "../../sqlite/sql-tokens.js";

/** A count of the rows of a FROM term, of those where the condition is TRUE. */
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
