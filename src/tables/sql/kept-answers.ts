import { bytesOver } from "../../http/body.js";
import { abortText } from "../../platform/abort.js";
import { type SqlValue, type Statement, statement } from "../../platform/database.js";
import type { ColumnName } from "../../sqlite/names.js";
import { bind, empty, integer, name, param, Slot, type SlotValues, type Sql, sql } from "../sql-text/fragment.js";
import { returnedRow } from "./returning.js";

/** The SQL that reads a write's answer, to be kept: right after the write, or right before a delete. */
export interface AnswerSource {
  /** The expression of the write's RETURNING clause: the text of the answered row. */
  readonly row: Sql;
  /** The SQL of the primary key of the written row, as JSON. */
  readonly key: Sql;
  /** `FROM … WHERE …` that finds the row which the write has written, or which the delete will delete. */
  readonly from: Sql;
  /** The condition that the caller may read the written row. */
  readonly readable: Sql;
  /** The SQL of whether the write has created the row: 1 if so, 0 if the row existed before. */
  readonly isNew: Sql;
}

/**
 * A request with an `Idempotency-Key`, whose answer is kept, so that a repetition of the request gets the same answer
 * (docs/reference/http.md#idempotency).
 */
export interface KeptRequest {
  /** The name of the kept answer: the client's idempotency key, the caller, and the request's method and path. */
  readonly name: string;
  /** A hash of the body, or a short body itself: a repetition with another body is refused. */
  readonly hash: string;
  /** When the request came, in milliseconds since the epoch. */
  readonly nowMs: number;
}

/** Up to how many bytes the rows of an answer are kept. Of larger answers only the rows' keys are. */
const keptBytesMax = 262_144;

const keptMs = 86_400_000;
/**
 * Kept answers are stored by the half day (12 hours) in which they were made: the primary key begins with it. So the
 * answers that are due for deletion lie next to each other without a second index by time, which would make each commit
 * write further pages to the disk.
 */
const periodMs = keptMs / 2;

const periodOf = (atMs: number) => Math.floor(atMs / periodMs);

/**
 * Makes SQL whose text contains the number of the current half day, because a parameter would take longer. The text is
 * kept until the half day ends: a cache of statements has to read a newly made string as a whole to look it up.
 */
function perPeriod<T>(make: (period: Sql) => T): (nowMs: number) => T {
  let made: { readonly period: number; readonly of: T } | undefined;
  return (nowMs) => {
    const period = periodOf(nowMs);
    if (made?.period !== period) made = { period, of: make(integer(period)) };
    return made.of;
  };
}

/**
 * Returns the half days (periods of 12 hours) in which an answer that is kept for a day may have been stored: the
 * current one, and the two before it.
 */
const periodsOf = ({ text }: Sql) => [text, `${text} - 1`, `${text} - 2`];

const unlessKeptText = perPeriod((period) => {
  // One look-up for each half day: for `period IN (…)` SQLite would make a temporary index at every call.
  const isKept = periodsOf(period)
    .map((one) => `EXISTS (SELECT 1 FROM _idempotency WHERE period = ${one} AND name = _i.n AND at > _i.since)`)
    .join(" OR ");
  return `SELECT CASE WHEN ${isKept} THEN json_extract('{}', ?) ELSE 1 END AS is_new FROM (SELECT ? AS n, ? AS since) AS _i`;
});
const keptAnswerText = perPeriod(
  (period) =>
    `SELECT hash, at, answer FROM _idempotency WHERE period IN (${periodsOf(period).join()}) AND name = ? ORDER BY period DESC LIMIT 1`,
);

/**
 * Makes a statement that undoes its transaction, for the reason `kept`, where an answer of the request has been kept
 * within the last day: the request was carried out before.
 */
export function unlessKept(request: KeptRequest, nonce: string): Statement {
  return {
    sql: unlessKeptText(request.nowMs),
    params: [abortText(nonce, "kept"), request.name, BigInt(request.nowMs - keptMs)],
    single: "value",
  };
}

/**
 * Makes a SELECT of the kept answer of a request: `[hash, at, answer]`. The `answer` of a request that writes rows is
 * for `keptRows` to read. The answer of an operation is its JSON text, empty until the operation's result is known.
 */
export function keptAnswer(request: Pick<KeptRequest, "name" | "nowMs">): Statement {
  return {
    sql: keptAnswerText(request.nowMs),
    params: [request.name],
    single: "row",
  };
}

/**
 * What is kept of each row of an answer: 1 if the write has created the row, else 0; the row's key; and the text that
 * the write's RETURNING clause made of the row, or null where the answer was so large that only keys are kept.
 */
export type KeptRow = readonly [isNew: number, key: Readonly<Record<string, unknown>>, row: string | null];

/**
 * Makes the SQL of what is kept of one row of an answer (`KeptRow`); without the row's text where `shown` is `key`.
 * `json_array` would embed the row, which is JSON, as an object. Appending an empty text makes it a plain text for
 * SQLite, which is embedded as a JSON string.
 */
function keptRow({ row, key, isNew }: AnswerSource, shown: "row" | "key"): Sql {
  // LIMIT in the subquery and WHERE outside of it together keep SQLite from merging (flattening) the two SELECTs.
  // Merged, the row's JSON would be made twice.
  const text =
    shown === "key"
      ? sql`NULL`
      : sql`(SELECT iif(octet_length(r) <= ${integer(keptBytesMax)}, r || '', NULL) FROM (SELECT ${row} AS r LIMIT 1) WHERE 1)`;
  return sql`json_array(${isNew}, json(${key}), ${text})`;
}

const slot = (of: string) => param(new Slot(of));

/** Makes SQL once for each source: a cache of statements has to read a newly made string as a whole. */
function perSource<T>(make: (source: AnswerSource) => T): (source: AnswerSource) => T {
  const made = new WeakMap<AnswerSource, T>();
  return (source) => {
    const known = made.get(source) ?? make(source);
    made.set(source, known);
    return known;
  };
}

/** The SQL that keeps an answer. `answer` is the SQL of its text, and `from` the rest of the SELECT around it. */
function insertAnswer(period: Sql, answer: Sql, from: Sql): Sql {
  return sql`INSERT OR REPLACE INTO _idempotency (period, name, hash, at, answer) SELECT ${period}, ${slot("kept.name")}, ${slot("kept.hash")}, ${slot("kept.at")}, ${answer}${from}`;
}

const keepOneSql = perSource((source) =>
  insertAnswer(slot("kept.period"), sql`'[' || ${keptRow(source, "row")} || ']'`, sql` ${source.from}`),
);

/**
 * Makes the statement that keeps the answer of a request that is a single write, to be run right after the write, or
 * right before a delete.
 */
export function keepOne(source: AnswerSource, request: KeptRequest, values: readonly SlotValues[]): Statement {
  return bind(keepOneSql(source), [keptValues(request), ...values]);
}

/**
 * Makes the statement that keeps the answer of a request that is a single write without triggers and checks. It runs
 * right after the write, and keeps nothing where the write has written no row.
 */
export function keepWritten(source: AnswerSource, request: KeptRequest, values: readonly SlotValues[]): Statement {
  const made = keepWrittenSql(source)(request.nowMs);
  const isNew = source.isNew.text;
  return {
    sql: made.text,
    // The parameters are made only when they are asked for. Most backends have the written row by then and send the
    // statement of `quicker` instead.
    get params() {
      return bind(made, [keptValues(request), ...values]).params;
    },
    uncounted: true,
    quicker({ rows: [written] }) {
      if (written === undefined) return null;
      const row = written[0] as string;
      return bytesOver(row, keptBytesMax) ? this : keepText(request, isNew + row);
    },
  };
}

/** Makes the statement that keeps a text that the server already has as the answer of a request. */
function keepText({ name: request, hash, nowMs }: KeptRequest, answer: string): Statement {
  return {
    sql: keepTextSql(nowMs),
    params: [request, hash, BigInt(nowMs), answer],
    uncounted: true,
  };
}

const keepTextSql = perPeriod(
  ({ text }) => `INSERT OR REPLACE INTO _idempotency (period, name, hash, at, answer) VALUES (${text}, ?, ?, ?, ?)`,
);

const keepWrittenSql = perSource((source) => {
  const { row, key, isNew, from } = source;
  const tooLarge = sql`(SELECT '[' || json_array(${isNew}, json(${key}), NULL) || ']' ${from})`;
  const answer = sql`iif(octet_length(r) <= ${integer(keptBytesMax)}, ${isNew} || r, ${tooLarge})`;
  // LIMIT in the subquery and WHERE outside of it together keep SQLite from merging (flattening) the two SELECTs.
  // Merged, the row's JSON would be made twice.
  const written = sql`(SELECT ${row} AS r ${from} AND changes() = 1 LIMIT 1)`;
  return perPeriod((period) => insertAnswer(period, answer, sql` FROM ${written} WHERE 1`));
});

/**
 * Reads the rows of a kept answer. It is a JSON array of `KeptRow`, or, as `keepWritten` keeps a single row: 1 if the
 * row is new, else 0, followed by the text of the write's RETURNING clause, in which the columns of the key are.
 */
export function keptRows(answer: string, primaryKey: readonly ColumnName[]): readonly KeptRow[] {
  if (answer.startsWith("[")) return JSON.parse(answer);
  const text = answer.slice(1);
  const row: Readonly<Record<string, unknown>> = JSON.parse(returnedRow(text).json);
  const key = Object.fromEntries(primaryKey.map((column) => [column, row[column]]));
  return [[answer.startsWith("1") ? 1 : 0, key, text]];
}

function keptValues({ name: request, hash, nowMs }: KeptRequest): ReadonlyMap<string, SqlValue> {
  return new Map<string, SqlValue>([
    ["kept.period", BigInt(periodOf(nowMs))],
    ["kept.name", request],
    ["kept.hash", hash],
    ["kept.at", BigInt(nowMs)],
  ]);
}

/**
 * Makes the statement that keeps the answer of a request that creates several rows in one write. `source` finds the
 * created rows in the order in which the request gave them.
 */
export function keepRows(source: AnswerSource, request: KeptRequest, values: readonly SlotValues[]): Statement {
  const { row, key, from } = source;
  const rows = (text: Sql) =>
    sql`(SELECT json_group_array(json_array(1, json(k), ${text})) FROM (SELECT ${key} AS k, ${row} AS r ${from}))`;
  const bytes = sql`(SELECT sum(octet_length(r)) FROM (SELECT ${row} AS r ${from}))`;
  const answer = sql`iif(${bytes} <= ${integer(keptBytesMax)}, ${rows(sql`r || ''`)}, ${rows(sql`NULL`)})`;
  return keepValue(request, answer, values);
}

/** Makes the statement that keeps a text as the answer of a request. `value` is the SQL that makes the text. */
export function keepValue(request: KeptRequest, value: Sql, values: readonly SlotValues[]): Statement {
  return bind(insertAnswer(slot("kept.period"), value, empty), [keptValues(request), ...values]);
}

/**
 * Makes a SELECT to run right after a statement that keeps an answer or a value: undoes the transaction where nothing
 * was kept, because the row to read it from is no longer there, or may not be read. `abort` is the text that
 * `abortText` makes.
 */
export function ifKept(abort: string): Statement {
  return statement("SELECT CASE WHEN changes() = 1 THEN 1 ELSE json_extract('{}', ?) END AS held", abort);
}

/** Makes the statement that replaces the kept answer of a request by another text. */
export function replaceKept(request: Pick<KeptRequest, "name" | "nowMs">, answer: string): Statement {
  return statement(
    "UPDATE _idempotency SET answer = ? WHERE period = ? AND name = ?",
    answer,
    BigInt(periodOf(request.nowMs)),
    request.name,
  );
}

const keepForLaterSql = perSource(
  (source) =>
    sql`INSERT INTO _staged (name, value, short) SELECT ${slot("kept.name")}, ${keptRow(source, "row")}, ${keptRow(source, "key")} ${source.from}`,
);

/**
 * Makes the statement that puts aside, in the table `_staged`, the answer of one of the several writes of a request. At
 * the end of the transaction `keepAll` puts these together.
 */
export function keepForLater(source: AnswerSource, index: number, values: readonly SlotValues[]): Statement {
  const as = `answer.${String(index).padStart(6, "0")}`;
  return bind(keepForLaterSql(source), [new Map([["kept.name", as]]), ...values]);
}

const staged = "FROM _staged WHERE name >= 'answer.' AND name < 'answer/'";

/**
 * Makes the statement that keeps the answer of a request with several writes, put together from what `keepForLater` has
 * put aside for each of them.
 */
export function keepAll({ name: request, hash, nowMs }: KeptRequest): Statement {
  const rows = (column: string) =>
    `(SELECT json_group_array(json(${column})) FROM (SELECT ${column} ${staged} ORDER BY name))`;
  return statement(
    `INSERT OR REPLACE INTO _idempotency (period, name, hash, at, answer)
    SELECT ?, ?, ?, ?, iif((SELECT sum(octet_length(value)) ${staged}) <= ${keptBytesMax}, ${rows("value")}, ${rows("short")})`,
    BigInt(periodOf(nowMs)),
    request,
    hash,
    BigInt(nowMs),
  );
}

/**
 * Makes the SQL of a value that an earlier statement of the same transaction has put aside in `_staged`. The slot gives
 * the name under which it was put.
 */
export function stagedValue(slot: Slot): Sql {
  return sql`(SELECT value FROM _staged WHERE name = ${param(slot)})`;
}

/**
 * Makes statements that put the value of a column of a written row aside, in the table `_staged`, for later statements
 * of the transaction (`stagedValue`). They undo the transaction where the row is not there, or where the caller may not
 * read it and the column is not one of its key.
 */
export function stageColumn(
  { from, readable }: AnswerSource,
  column: { readonly name: ColumnName; readonly isKey: boolean },
  as: string,
  values: readonly SlotValues[],
  abort: string,
): readonly Statement[] {
  // The caller need not be allowed to read the row to get a column of its key: whoever writes a row is shown its key.
  const shown = column.isKey ? sql`1` : readable;
  return [
    bind(
      sql`INSERT INTO _staged (name, value) SELECT ${param(new Slot("staged.name"))}, ${name(column.name)} ${from} AND ${shown}`,
      [new Map([["staged.name", as]]), ...values],
    ),
    ifKept(abort),
  ];
}

/**
 * Makes the statement that puts aside whether a row exists, before a later statement of the transaction creates it if
 * it does not. `wasThere` reads it.
 */
export function stageIsThere(isThere: Sql, values: readonly SlotValues[]): Statement {
  return bind(sql`INSERT OR REPLACE INTO _staged (name, value) SELECT 'was there', ${isThere}`, values);
}

/** The SQL of whether the row existed when `stageIsThere` was run last: 1 or 0. */
export const wasThere: Sql = sql`(SELECT value FROM _staged WHERE name = 'was there')`;

/** The statement that empties the table `_staged`, in which a transaction keeps values for its later statements. */
export const clearStaged: Statement = statement("DELETE FROM _staged");

/**
 * Makes the statement that deletes answers that were kept for more than a day, at most `rowsMax` of them. As they are
 * stored by half days, an answer may be up to half a day older before it is deleted.
 */
export function retireAnswers(nowMs: number, rowsMax: number): readonly Statement[] {
  const sql =
    "DELETE FROM _idempotency WHERE (period, name) IN (SELECT period, name FROM _idempotency WHERE period < ? ORDER BY period, name LIMIT ?)";
  return [statement(sql, BigInt(periodOf(nowMs - keptMs)), BigInt(rowsMax))];
}
