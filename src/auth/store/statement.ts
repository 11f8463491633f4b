import type { SqlValue, Statement } from "../../platform/database.js";

/**
 * This folder holds the fixed SQL of the server's own tables, one named function for each statement. State changes carry
 * their guard with them: nothing is read first and written after. Times are milliseconds since the epoch.
 */
export function statement(sql: string, ...params: SqlValue[]): Statement {
  return { sql, params };
}

/** A condition of fixed text, to stand in the WHERE of a statement, and the values of its parameters. */
export interface Condition {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

export function condition(sql: string, ...params: SqlValue[]): Condition {
  return { sql, params };
}

/** ISO 8601 in UTC, of one width, so that text compares as time does. */
export function instant(ms: number): string {
  return new Date(ms).toISOString();
}
