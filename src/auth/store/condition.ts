import type { SqlValue } from "../../platform/database.js";

/**
 * A condition of fixed text, to be put into the WHERE of a statement, and the values of its parameters. This folder
 * holds all fixed SQL over the server's own tables, with a named function for each statement. Whether a statement may
 * change something is a condition inside that statement: nothing is decided by an earlier read, which might be out of
 * date. Times are milliseconds since the epoch.
 */
export interface Condition {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

/** Makes a condition from its fixed text and the values of its parameters. */
export function condition(sql: string, ...params: SqlValue[]): Condition {
  return { sql, params };
}
