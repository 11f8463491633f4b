import type { Result } from "../platform/database.js";
import type { PlanLine } from "./explanation.js";

/** The lines of SQLite's query plan, from the result of an EXPLAIN QUERY PLAN. */
export function planLines({ rows }: Result): readonly PlanLine[] {
  return rows.map((row) => {
    const detail = String(row[3]);
    return { detail, index: indexIn(detail) };
  });
}

/** The name of the index in a line of a query plan, such as `SEARCH t USING COVERING INDEX by_owner (owner=?)`. */
function indexIn(detail: string): string | null {
  const [, key, name] =
    / USING (?:(INTEGER PRIMARY KEY|PRIMARY KEY)|(?:COVERING )?INDEX (.+?))(?: \(.*\))?$/.exec(detail) ?? [];
  return key ?? name ?? null;
}
