import { ConstraintError, type Result, type Statement } from "./database.js";

const byReference = `SELECT "table" || ' references ' || parent AS reference, count(*) AS missing
  FROM pragma_foreign_key_check GROUP BY reference`;

/** `[reference, rows whose key leads nowhere]`. An adopted database may have some. */
export const danglingKeys: Statement = { sql: byReference, params: [] };

/**
 * For the end of a migration's batch: fails where more keys lead nowhere than before, which `danglingKeys` found. As a
 * JSON path, which it is none, SQLite names the reference in its error.
 */
export function refuseMoreDanglingKeys({ rows }: Result): Statement {
  const sql = `SELECT json_extract('{}', reference) AS more FROM (${byReference})
    WHERE missing > ifnull((SELECT value FROM json_each(?) WHERE key = reference), 0)`;
  return { sql, params: [JSON.stringify(Object.fromEntries(rows as [string, number][]))] };
}

/** The error of that statement, null for any other message. */
export function danglingKeyError(message: string): ConstraintError | null {
  const [, reference] = /bad JSON path: '(.* references .*)'/.exec(message) ?? [];
  return reference === undefined
    ? null
    : new ConstraintError("foreign_key", `FOREIGN KEY constraint failed: ${reference}`);
}
