import type { SqlValue, Statement } from "../../platform/database.js";

/**
 * A statement of fixed text. This folder holds the fixed SQL over the server's own tables, a named function for each
 * statement. Conditions of a change of state are part of its statement: nothing is read first and written afterwards
 * on the strength of it. Times are milliseconds since the epoch.
 */
export function statement(sql: string, ...params: SqlValue[]): Statement {
  return { sql, params };
}

/** A condition of fixed text, to stand in the WHERE of a statement, and the values of its parameters. */
export interface Condition {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

/** A condition of fixed text. */
export function condition(sql: string, ...params: SqlValue[]): Condition {
  return { sql, params };
}

/** A time in milliseconds as ISO 8601 in UTC. All such texts have the same length, so that they sort by time. */
export function instant(ms: number): string {
  return new Date(ms).toISOString();
}
