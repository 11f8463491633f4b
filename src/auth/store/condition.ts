import type { SqlValue } from "../../platform/database.js";

/**
 * A condition of fixed text, to be put into the WHERE of a statement, and the values of its parameters. This folder
 * holds the fixed SQL over the server's own tables, a named function for each statement. What a change of state depends
 * on is a condition inside its statement: nothing is read first and written afterwards on the strength of it. Times are
 * milliseconds since the epoch.
 */
export interface Condition {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

/** Makes a condition from its fixed text and the values of its parameters. */
export function condition(sql: string, ...params: SqlValue[]): Condition {
  return { sql, params };
}
