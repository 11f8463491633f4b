import type { Result } from "../platform/database.js";
import type { PlanLine } from "../wire/explanation.js";

/** Reads the lines of SQLite's query plan, from the result of an EXPLAIN QUERY PLAN. */
export function planLines({ rows }: Result): readonly PlanLine[] {
  return rows.map((row) => {
    const detail = String(row[3]);
    return { detail, index: indexIn(detail) };
  });
}

/**
 * Returns the index that a line of a query plan uses, such as `by_owner` in
 * `SEARCH t USING COVERING INDEX by_owner (owner=?)`; or `PRIMARY KEY` or `INTEGER PRIMARY KEY` for a line that uses
 * that. Null for none.
 */
function indexIn(detail: string): string | null {
  const [, key, name] =
    / USING (?:(INTEGER PRIMARY KEY|PRIMARY KEY)|(?:COVERING )?INDEX (.+?))(?: \(.*\))?$/.exec(detail) ?? [];
  return key ?? name ?? null;
}
