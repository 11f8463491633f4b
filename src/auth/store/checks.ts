import { type Statement, statement } from "../../platform/database.js";
import { Memo, statementLengthMax } from "../../platform/memo.js";
import { asJson, onlyRow, type Query, type ResultRow } from "../../platform/query.js";
import { instant } from "./instant.js";

// The statements that check callers name their columns c0, c1 and so on, because `insist` refers to them by these
// names.
const versionColumn = "(SELECT max(version) FROM _schema) AS c0";

// The SQL texts of the checks are constants, because caches look statements up by their text. With a text that is put
// together anew for each request, the look-up would first have to read all of it.
const schemaVersionSql = `SELECT ${versionColumn}`;
const sessionSql = `SELECT ${versionColumn}, u.id AS c1, u.email AS c2, u.role AS c3, u.email_verified AS c4 FROM (SELECT 1)
    LEFT JOIN _sessions s ON s.id = ? AND s.revoked_at IS NULL AND s.created_at > ?
    LEFT JOIN _users u ON u.id = s.user_id AND u.disabled = 0`;
const consoleSql = `SELECT ${versionColumn}, u.id AS c1, u.email AS c2, u.role AS c3, u.email_verified AS c4,
    s.id AS c5, s.expires_at AS c6, s.confirmed_until AS c7 FROM (SELECT 1)
    LEFT JOIN _sessions s ON s.token_hash = ? AND s.revoked_at IS NULL AND s.expires_at > ? AND s.created_at > ?
    LEFT JOIN _users u ON u.id = s.user_id AND u.disabled = 0 AND u.role = 'admin'`;
const apiKeySql = `SELECT ${versionColumn}, k.id AS c1, k.scopes AS c2 FROM (SELECT 1)
    LEFT JOIN _service_keys k ON k.hash = ? AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?)`;

/** A check of a caller: a statement that returns one row, a `CheckedRow`, and how many columns that has. */
export interface Check {
  readonly statement: Statement;
  readonly width: number;
}

/** The row that the check of a caller returns. Only the functions of this file read and make it. */
export type CheckedRow = ResultRow;

/** The version of the schema in force; null where no schema was applied yet. */
export function schemaVersion(): Query<number | null> {
  return onlyRow(statement(schemaVersionSql), versionIn);
}

/** Reads from the row of any check what `schemaVersion` asks for. */
export function versionIn([version]: CheckedRow): number | null {
  return version as number | null;
}

/** The row of a check that finds this version of the schema, and the caller of `known`; by default an anonymous one. */
export function rowAt(version: number | null, [, ...caller]: CheckedRow = []): CheckedRow {
  return [version, ...caller];
}

/** The check of an anonymous caller, of whom there is nothing to check: it only reads the version of the schema. */
export function anonymousCheck(): Check {
  return { statement: statement(schemaVersionSql), width: 1 };
}

/** What a check has found of a user. */
export interface CheckedUser {
  readonly id: string;
  readonly email: string;
  readonly role: string;
  readonly emailVerified: boolean;
}

/**
 * The check of a user's session. It finds the user if the session is not revoked and began after `since` (milliseconds
 * since the epoch), and the user is enabled.
 */
export function sessionCheck(sessionId: string, since: number): Check {
  return { statement: statement(sessionSql, sessionId, BigInt(since)), width: 5 };
}

/** The row that the check of a session returns where it finds this version of the schema and this user. */
export function rowOfUser(version: number | null, user: CheckedUser): CheckedRow {
  return [version, user.id, user.email, user.role, user.emailVerified ? 1 : 0];
}

/** Reads the user from the row of the check of a session; null where it has found none. */
export function userIn([, id, email, role, verified]: CheckedRow): CheckedUser | null {
  if (id === null) return null;
  return { id: id as string, email: email as string, role: role as string, emailVerified: verified === 1 };
}

/**
 * The check of a session of the console, by the hash of its token. It finds the session if that is not revoked, ends
 * after `now` and began after `since` (milliseconds since the epoch), and the user is an enabled administrator.
 */
export function consoleCheck(tokenHash: string, now: number, since: number): Check {
  return { statement: statement(consoleSql, tokenHash, BigInt(now), BigInt(since)), width: 8 };
}

/** Reads a session of the console and its user from the row of its check; null where it has found none. */
export function consoleIn(row: CheckedRow) {
  const user = userIn(row);
  const [sessionId, expiresAtMs, confirmedUntilMs] = row.slice(5) as [string, number, number];
  return user && { ...user, sessionId, console: { expiresAtMs, confirmedUntilMs } };
}

/** The check of an API key. It finds the key unless that is revoked, or expired at `now`, in milliseconds. */
export function apiKeyCheck(hash: string, now: number): Check {
  return { statement: statement(apiKeySql, hash, instant(now)), width: 3 };
}

/** Reads the API key from the row of its check; null where it has found none. */
export function checkedKey([, id, scopes]: CheckedRow) {
  return id === null ? null : { id: id as string, scopes: asJson<readonly string[]>(scopes!) };
}

/**
 * Adds to the check of an administrator the look-up of the user as whom the administrator wants to see the data
 * (`Svc-As`). `lookedUpUser` reads what it has found.
 */
export function withUserLookUp({ statement: { sql, params }, width }: Check, id: string): Check {
  const found = ["id", "email", "role", "email_verified", "disabled"];
  const text = `SELECT c.*, ${named(found, width)} FROM (${sql}) c LEFT JOIN _users o ON o.id = ?`;
  return { statement: statement(text, ...params, id), width: width + found.length };
}

/** Reads the user whom `withUserLookUp` has looked up from the row of its check; null where there is no such user. */
export function lookedUpUser(row: CheckedRow) {
  const user = userIn([null, ...row.slice(-5)]);
  return user && { ...user, disabled: row.at(-1) === 1 };
}

/**
 * Adds to the check of an administrator the look-up of the API key as which the administrator wants to see the data
 * (`Svc-As`), and whether it is valid at `now`. `lookedUpKey` reads what it has found.
 */
export function withKeyLookUp({ statement: { sql, params }, width }: Check, id: string, now: number): Check {
  const found = ["id", "scopes", "good"];
  const text = `SELECT c.*, ${named(found, width)} FROM (${sql}) c
    LEFT JOIN (SELECT id, scopes, revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?) AS good
      FROM _service_keys WHERE id = ?) o ON 1`;
  return { statement: statement(text, ...params, instant(now), id), width: width + found.length };
}

/** Reads the API key that `withKeyLookUp` has looked up from the row of its check; null where there is no such key. */
export function lookedUpKey(row: CheckedRow) {
  const key = checkedKey([null, ...row.slice(-3)]);
  return key && { ...key, isValid: row.at(-1) === 1 };
}

const named = (columns: readonly string[], from: number) =>
  columns.map((column, i) => `o.${column} AS c${from + i}`).join();

/**
 * Makes a statement for the beginning of a batch, which undoes the batch unless the check of the caller returns the
 * expected row. To fail, it reads invalid JSON, because a SELECT cannot raise an error by itself.
 */
export function insist(check: Statement, expected: CheckedRow): Statement {
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
  return { sql: text, params: [...check.params, ...params], single: "row" };
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
