import { ConstraintError, type Result, type Statement } from "./database.js";

const byReference = `SELECT "table" || ' references ' || parent AS reference, count(*) AS missing
  FROM pragma_foreign_key_check GROUP BY reference`;

/**
 * Counts the rows whose foreign key refers to a missing row: rows of `["table references parent", count]`. A database
 * that was adopted with existing data may have such rows.
 */
export const danglingKeys: Statement = { sql: byReference, params: [] };

/**
 * A statement for the end of a migration's batch. It fails if more foreign keys refer to missing rows than before the
 * migration; the argument is the result of `danglingKeys` from before. It passes such a text as `table references
 * parent` to SQLite as a JSON path, which it is not: SQLite quotes the text in the error message, where
 * `danglingKeyError` finds it.
 */
export function refuseMoreDanglingKeys({ rows }: Result): Statement {
  const sql = `SELECT json_extract('{}', reference) AS more FROM (${byReference})
    WHERE missing > ifnull((SELECT value FROM json_each(?) WHERE key = reference), 0)`;
  return { sql, params: [JSON.stringify(Object.fromEntries(rows as [string, number][]))] };
}

/** Null for a message that is not about `refuseMoreDanglingKeys`. */
export function danglingKeyError(message: string): ConstraintError | null {
  const [, reference] = /bad JSON path: '(.* references .*)'/.exec(message) ?? [];
  return reference === undefined
    ? null
    : new ConstraintError("foreign_key", `FOREIGN KEY constraint failed: ${reference}`);
}

/** Has foreign keys checked at the end of the transaction, until which rows may refer to others that are yet to come. */
export const deferForeignKeys: Statement = { sql: "PRAGMA defer_foreign_keys=on", params: [] };
