import type { ResultValue, Statement } from "../../platform/database.js";
import { Memo } from "../../platform/memo.js";
import { instant, statement } from "./statement.js";

// The columns of a check are called c0, c1 and so on, for `insist`.
const schemaVersion = "(SELECT max(version) FROM _schema) AS c0";

// The same texts each time: they are looked up, and one that is put together anew is read whole to be found.
const schemaVersionSql = `SELECT ${schemaVersion}`;
const sessionSql = `SELECT ${schemaVersion}, u.id AS c1, u.email AS c2, u.role AS c3 FROM (SELECT 1)
    LEFT JOIN _sessions s ON s.id = ? AND s.revoked_at IS NULL
    LEFT JOIN _users u ON u.id = s.user_id AND u.disabled = 0`;
const apiKeySql = `SELECT ${schemaVersion}, k.id AS c1, k.scopes AS c2 FROM (SELECT 1)
    LEFT JOIN _service_keys k ON k.hash = ? AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?)`;

/** `[schema version]` */
export function schemaVersionCheck(): Statement {
  return statement(schemaVersionSql);
}

/** `[schema version, user id, email, role]`; the user is NULL unless the session lives and the user is enabled. */
export function sessionCheck(sessionId: string): Statement {
  return statement(sessionSql, sessionId);
}

/** `[schema version, key id, scopes]`; the key is NULL unless it is neither revoked nor expired. */
export function apiKeyCheck(hash: string, now: number): Statement {
  return statement(apiKeySql, hash, instant(now));
}

/**
 * For the begin of a batch: fails, and with it the batch, unless a check returns the expected row. What it then reads as
 * JSON is none.
 */
export function insist(check: Statement, expected: readonly ResultValue[]): Statement {
  const sql = insisting.get(check.sql, () => {
    const columns = expected.map((_, i) => `c${i}`).join();
    const values = expected.map(() => "?").join();
    return `SELECT CASE WHEN (${columns}) IS (${values}) THEN 1 ELSE json('{' || ifnull(c0, '')) END AS holds
    FROM (${check.sql})`;
  });
  return { sql, params: [...expected, ...check.params] };
}

/** By the text of the check, of which there are three. */
const insisting = new Memo<string>(10);

/** By the text of the check, of which there are six, and then by that of the statement. */
const joinedTexts = new Memo<Memo<string>>(20);

/**
 * A check and a `single` statement as one, the check's columns first: another statement costs as much as looking up a row.
 * Where the statement has no row, its columns are NULL.
 */
export function withCheck(check: Statement, { sql, params }: Statement): Statement {
  const texts = joinedTexts.get(check.sql, () => new Memo<string>(300, 10_000));
  const text = texts.get(sql, () => `SELECT * FROM (${check.sql}) LEFT JOIN (${sql}) ON 1`);
  return { sql: text, params: [...check.params, ...params] };
}
