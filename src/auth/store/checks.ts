import { type ResultValue, type Statement, statement } from "../../platform/database.js";
import { Memo, statementLengthMax } from "../../platform/memo.js";
import { instant } from "./instant.js";

// The columns of the checks of a caller have the names c0, c1 and so on, by which `insist` refers to them.
const schemaVersion = "(SELECT max(version) FROM _schema) AS c0";

// The checks' SQL texts are constants because caches look them up by their text: a string that is put together anew has
// to be read as a whole before it can be found.
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
 * The check of an anonymous caller, which only reads the schema's version. Returns `[schema version]`, NULL where no
 * schema was applied yet.
 */
export function schemaVersionCheck(): Statement {
  return statement(schemaVersionSql);
}

/**
 * The check of a user's session. Returns `[schema version, user id, email, role, email verified]`; the columns of the
 * user are NULL unless the session is not revoked, began after `since` (milliseconds since the epoch), and the user is
 * enabled.
 */
export function sessionCheck(sessionId: string, since: number): Statement {
  return statement(sessionSql, sessionId, BigInt(since));
}

/**
 * The check of a session of the console, by the hash of its token. Returns `[schema version, user id, email, role, email
 * verified, session id, expires at, confirmed until]`; the columns of the user are NULL unless the session is not
 * revoked, ends after `now`, began after `since` (milliseconds since the epoch), and the user is an enabled
 * administrator.
 */
export function consoleCheck(tokenHash: string, now: number, since: number): Statement {
  return statement(consoleSql, tokenHash, BigInt(now), BigInt(since));
}

/**
 * The check of an API key. Returns `[schema version, key id, scopes]`; the columns of the key are NULL where it is
 * unknown, revoked or expired at `now` (milliseconds since the epoch).
 */
export function apiKeyCheck(hash: string, now: number): Statement {
  return statement(apiKeySql, hash, instant(now));
}

/**
 * Makes a check of a caller that also returns, behind its `length` columns, those of a user whose view is asked for:
 * `[id, email, role, email verified, disabled]`, NULL where there is no such user.
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
 * Makes a check of a caller that also returns, behind its `length` columns, those of an API key whose view is asked
 * for: `[id, scopes, whether it is valid at `now`]`, NULL where there is no such key.
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
 * A statement for the beginning of a batch that fails unless the check of a caller returns the expected row, so that
 * nothing of the batch is committed. It fails by reading invalid JSON, because a SELECT cannot raise an error by
 * itself.
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

/** A cache of the SQL that `insist` makes, by the SQL of the check of a caller. There are few such checks. */
const insisting = new Memo<string>(16_384);

/**
 * Joins a check of the caller and a statement that is marked as `single` into one statement, because a further
 * statement costs as much as looking up a row. The columns of the check come first. Where the `single` statement
 * returns no row, its columns are NULL.
 */
export function withCheck(check: Statement, { sql, params }: Statement): Statement {
  const text = textsAfter(check.sql).get(sql, () => `SELECT * FROM (${check.sql}) LEFT JOIN (${sql}) ON 1`);
  return { sql: text, params: [...check.params, ...params] };
}

/**
 * How many statements `withValues` joins at most: the one that asks whether a request is new, and the one with a
 * write's probes.
 */
export const valuesMax = 2;

/**
 * Joins the statement that `insist` has made with statements that are marked as `single: "value"` into one. Each of
 * them becomes a column, which is NULL where the statement returns no row: that is quicker than the join of
 * `withCheck`.
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
 * A cache of the SQL of `withCheck` and `withValues`: by the SQL of the check, or what `insist` makes of it, and of what was
 * joined with that before, then by the SQL that is joined with all of it.
 */
const joinedTexts = new Memo<Memo<string>>(65_536);
/** How many bytes of cached SQL are kept for each text that others are joined with. */
const joinedBytesMax = 2_097_152;

function textsAfter(sql: string): Memo<string> {
  return joinedTexts.get(sql, () => new Memo<string>(joinedBytesMax, { keyLengthMax: statementLengthMax }));
}
