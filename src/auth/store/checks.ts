import { type ResultValue, type Statement, statement } from "../../platform/database.js";
import { Memo, statementLengthMax } from "../../platform/memo.js";
import { instant } from "./instant.js";

// The statements that check callers name their columns c0, c1 and so on, because `insist` refers to them by these
// names.
const schemaVersion = "(SELECT max(version) FROM _schema) AS c0";

// The SQL texts of the checks are constants, because caches look statements up by their text. With a text that is put
// together anew for each request, the look-up would first have to read all of it.
const schemaVersionSql = `SELECT ${schemaVersion}`;
const sessionSql = `SELECT ${schemaVersion}, u.id AS c1, u.email AS c2, u.role AS c3, u.email_verified AS c4 FROM (SELECT 1)
    LEFT JOIN _sessions s ON s.id = ? AND s.revoked_at IS NULL AND s.created_at > ?
    LEFT JOIN _users u ON u.id = s.user_id AND u.disabled = 0`;
const consoleSql = `SELECT ${schemaVersion}, u.id AS c1, u.email AS c2, u.role AS c3, u.email_verified AS c4,
    s.id AS c5, s.expires_at AS c6, s.confirmed_until AS c7 FROM (SELECT 1)
    LEFT JOIN _sessions s ON s.token_hash = ? AND s.revoked_at IS NULL AND s.expires_at > ? AND s.created_at > ?
    LEFT JOIN _users u ON u.id = s.user_id AND u.disabled = 0 AND u.role = 'admin'`;
const apiKeySql = `SELECT ${schemaVersion}, k.id AS c1, k.scopes AS c2 FROM (SELECT 1)
    LEFT JOIN _service_keys k ON k.hash = ? AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?)`;

/**
 * The statement that checks an anonymous caller, of whom there is nothing to check: it only reads the version of the
 * schema in force. Returns `[schema version]`, NULL where no schema was applied yet.
 */
export function schemaVersionCheck(): Statement {
  return statement(schemaVersionSql);
}

/**
 * The statement that checks a user's session. Returns `[schema version, user id, email, role, email verified]`. The
 * columns of the user are NULL unless the session is not revoked and began after `since` (milliseconds since the
 * epoch), and the user is enabled.
 */
export function sessionCheck(sessionId: string, since: number): Statement {
  return statement(sessionSql, sessionId, BigInt(since));
}

/**
 * The statement that checks a session of the console, by the hash of its token. Returns `[schema version, user id,
 * email, role, email verified, session id, expires at, confirmed until]`. The columns of the user are NULL unless the
 * session is not revoked, ends after `now` and began after `since` (milliseconds since the epoch), and the user is an
 * enabled administrator.
 */
export function consoleCheck(tokenHash: string, now: number, since: number): Statement {
  return statement(consoleSql, tokenHash, BigInt(now), BigInt(since));
}

/**
 * The statement that checks an API key. Returns `[schema version, key id, scopes]`; the columns of the key are NULL
 * where it is unknown, revoked or expired at `now` (milliseconds since the epoch).
 */
export function apiKeyCheck(hash: string, now: number): Statement {
  return statement(apiKeySql, hash, instant(now));
}

/**
 * Adds to the check of an administrator the look-up of the user as whom the administrator wants to see the data
 * (`Svc-As`). Behind the `length` columns of the check, the statement returns `[id, email, role, email verified,
 * disabled]` of that user, NULL where there is no such user.
 */
export function besideUser(check: Statement, length: number, id: string): Statement {
  const columns = ["id", "email", "role", "email_verified", "disabled"];
  return statement(
    `SELECT c.*, ${named(columns, length)} FROM (${check.sql}) c LEFT JOIN _users o ON o.id = ?`,
    ...check.params,
    id,
  );
}

/**
 * Adds to the check of an administrator the look-up of the API key as which the administrator wants to see the data
 * (`Svc-As`). Behind the `length` columns of the check, the statement returns `[id, scopes, good]` of that key, where
 * `good` is 1 if it is valid at `now`; NULL where there is no such key.
 */
export function besideKey(check: Statement, length: number, id: string, now: number): Statement {
  return statement(
    `SELECT c.*, ${named(["id", "scopes", "good"], length)} FROM (${check.sql}) c
    LEFT JOIN (SELECT id, scopes, revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?) AS good
      FROM _service_keys WHERE id = ?) o ON 1`,
    ...check.params,
    instant(now),
    id,
  );
}

const named = (columns: readonly string[], from: number) =>
  columns.map((column, i) => `o.${column} AS c${from + i}`).join();

/**
 * Makes a statement for the beginning of a batch, which undoes the batch unless the check of the caller returns the
 * expected row. To fail, it reads invalid JSON, because a SELECT cannot raise an error by itself.
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

/**
 * A cache of the SQL that `insist` makes, by the SQL of the check that it was made for. There are few different checks.
 */
const insisting = new Memo<string>(16_384);

/**
 * Joins the check of a caller and a statement that is marked as `single` (it returns at most one row) into one
 * statement, because a further statement would cost as much as looking up a row. The columns of the check come first.
 * The others are NULL where the `single` statement returns no row.
 */
export function withCheck(check: Statement, { sql, params }: Statement): Statement {
  const text = textsAfter(check.sql).get(sql, () => `SELECT * FROM (${check.sql}) LEFT JOIN (${sql}) ON 1`);
  return { sql: text, params: [...check.params, ...params] };
}

/**
 * How many statements `withValues` joins at most. A write begins with two that can be joined: the one that asks whether
 * the same request was answered before, and the one that looks up the rows which its rules ask about.
 */
export const valuesMax = 2;

/**
 * Joins the statement that `insist` has made and statements that are marked as `single: "value"` (each returns at most
 * one row, of one column) into one. Each of the marked ones becomes a column, which is NULL where the statement returns
 * no row. That is quicker than a join as `withCheck` makes it.
 */
export function withValues(holds: Statement, values: readonly Statement[]): Statement {
  let sql = textsAfter(holds.sql).get("", () => `SELECT (${holds.sql}) AS holds`);
  const params = [...holds.params];
  values.forEach((value, i) => {
    const before = sql;
    sql = textsAfter(before).get(value.sql, () => `${before}, (${value.sql}) AS v${i}`);
    params.push(...value.params);
  });
  return { sql, params };
}

/**
 * The SQL that `withCheck` and `withValues` have made. The outer key is the SQL that something is added to: that of a
 * check, or what was already joined with it. The inner key is the SQL of the statement that is added.
 */
const joinedTexts = new Memo<Memo<string>>(65_536);
/** How many bytes of SQL are cached at most for each text that other statements are joined with. */
const joinedBytesMax = 2_097_152;

function textsAfter(sql: string): Memo<string> {
  return joinedTexts.get(sql, () => new Memo<string>(joinedBytesMax, { keyLengthMax: statementLengthMax }));
}
