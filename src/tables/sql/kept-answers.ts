import { bytesOver } from "../../http/body.js";
import { abortText } from "../../platform/abort.js";
import { type SqlValue, type Statement, statement } from "../../platform/database.js";
import type { ColumnName } from "../../sqlite/names.js";
import { bind, integer, name, param, Slot, type SlotValues, type Sql, sql } from "./fragment.js";
import { returnedRow } from "./returning.js";

/** How a write's answer is found, as SQL that is evaluated right after the write, or right before a delete. */
export interface AnswerSource {
  /** The value of the write's RETURNING clause. */
  readonly row: Sql;
  /** The primary key of the written row as JSON. */
  readonly key: Sql;
  /** `FROM … WHERE …` that finds the written row. */
  readonly from: Sql;
  /** Whether the caller may read the written row. */
  readonly readable: Sql;
  /** Whether the write has created the row: 1 or 0. */
  readonly isNew: Sql;
}

/** A request whose answer is kept for repetitions of it (docs/reference/http.md#idempotency). */
export interface KeptRequest {
  /** The name under which the answer is kept, made of the key that was sent, the caller and the request. */
  readonly name: string;
  /** The hash of the request's body, which tells it from others. */
  readonly hash: string;
  /** When the request came, in milliseconds since the epoch. */
  readonly nowMs: number;
}

/** How many bytes the rows of an answer may have to be kept. Of larger answers only the rows' keys are kept. */
export const keptBytesMax = 262_144;

const keptMs = 86_400_000;
/**
 * The half days by which kept answers are stored, so that those which have been kept long enough lie together, and each
 * is one entry of one index: every other page that a commit changes has to be written to the disk, too.
 */
const periodMs = keptMs / 2;

const periodOf = (atMs: number) => Math.floor(atMs / periodMs);

/**
 * Makes SQL that has the current half day in its text, because a parameter would cost more. It is made once for each
 * half day, because a text that is put together anew has to be read as a whole before a cache finds it.
 */
function perPeriod<T>(make: (period: Sql) => T): (nowMs: number) => T {
  let made: { readonly period: number; readonly of: T } | undefined;
  return (nowMs) => {
    const period = periodOf(nowMs);
    if (made?.period !== period) made = { period, of: make(integer(period)) };
    return made.of;
  };
}

/** The half days in which the kept answer of a request may be stored: the current one, and the two before. */
const periodsOf = ({ text }: Sql) => [text, `${text} - 1`, `${text} - 2`];

const unlessKeptText = perPeriod((period) => {
  // Each half day is asked for by a look-up of its own. For `period IN (…)` SQLite would make a temporary index at each
  // call.
  const isKept = periodsOf(period)
    .map(
      (one) => `EXISTS (SELECT 1 FROM _idempotency WHERE period = ${one} AND name = _i.n AND at > _i.since)`,
    )
    .join(" OR ");
  return `SELECT CASE WHEN ${isKept} THEN json_extract('{}', ?) ELSE 1 END AS is_new FROM (SELECT ? AS n, ? AS since) AS _i`;
});
const keptAnswerText = perPeriod(
  (period) =>
    `SELECT hash, at, answer FROM _idempotency WHERE period IN (${periodsOf(period).join()}) AND name = ? ORDER BY period DESC LIMIT 1`,
);

/** Undoes the batch, for the reason `kept`, where an answer of the request is kept already. */
export function unlessKept(request: KeptRequest, nonce: string): Statement {
  return {
    sql: unlessKeptText(request.nowMs),
    params: [abortText(nonce, "kept"), request.name, BigInt(request.nowMs - keptMs)],
    single: "value",
  };
}

/**
 * Reads the kept answer of a request: `[hash, at, answer]`. The answer of writes of rows is a JSON array of `KeptRow`;
 * that of an operation is its JSON text, empty until it is known.
 */
export function keptAnswer(request: Pick<KeptRequest, "name" | "nowMs">): Statement {
  return {
    sql: keptAnswerText(request.nowMs),
    params: [request.name],
    single: "row",
  };
}

/**
 * What is kept of each row of an answer: whether it was new (1), its key, and its RETURNING text; null where only keys
 * are kept.
 */
export type KeptRow = readonly [isNew: number, key: Readonly<Record<string, unknown>>, row: string | null];

/**
 * What is kept of a row, as SQL. The row goes into `json_array` as a text, as which SQLite takes it once another text
 * was appended.
 */
function keptRow({ row, key, isNew }: AnswerSource, shown: "row" | "key"): Sql {
  // LIMIT inside and WHERE outside together keep SQLite from flattening the subquery, which would make the row's JSON
  // twice.
  const text =
    shown === "key"
      ? sql`NULL`
      : sql`(SELECT iif(octet_length(r) <= ${integer(keptBytesMax)}, r || '', NULL) FROM (SELECT ${row} AS r LIMIT 1) WHERE 1)`;
  return sql`json_array(${isNew}, json(${key}), ${text})`;
}

const slot = (of: string) => param(new Slot(of));

/**
 * Makes SQL once for each source, because a text that is put together anew has to be read as a whole before a cache
 * finds it.
 */
function perSource<T>(make: (source: AnswerSource) => T): (source: AnswerSource) => T {
  const made = new WeakMap<AnswerSource, T>();
  return (source) => {
    const known = made.get(source) ?? make(source);
    made.set(source, known);
    return known;
  };
}

const keepOneSql = perSource(
  (source) =>
    sql`INSERT OR REPLACE INTO _idempotency (period, name, hash, at, answer) SELECT ${slot("kept.period")}, ${slot("kept.name")}, ${slot("kept.hash")}, ${slot("kept.at")}, '[' || ${keptRow(source, "row")} || ']' ${source.from}`,
);

/** Keeps the answer of a request that is one write. */
export function keepOne(
  source: AnswerSource,
  request: KeptRequest,
  values: readonly SlotValues[],
): Statement {
  return bind(keepOneSql(source), [keptValues(request), ...values]);
}

/**
 * Keeps the answer of a request that is one write, right after the write; keeps nothing where that has written no row.
 */
export function keepWritten(
  source: AnswerSource,
  request: KeptRequest,
  values: readonly SlotValues[],
): Statement {
  const made = keepWrittenSql(source)(request.nowMs);
  const isNew = source.isNew.text;
  return {
    sql: made.text,
    // Filled in only where it is sent, as most backends have the row by then.
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

/** Keeps a text that is known as the answer of a request. */
function keepText({ name: request, hash, nowMs }: KeptRequest, answer: string): Statement {
  return {
    sql: keepTextSql(nowMs),
    params: [request, hash, BigInt(nowMs), answer],
    uncounted: true,
  };
}

const keepTextSql = perPeriod(
  ({ text }) =>
    `INSERT OR REPLACE INTO _idempotency (period, name, hash, at, answer) VALUES (${text}, ?, ?, ?, ?)`,
);

const keepWrittenSql = perSource((source) => {
  const { row, key, isNew, from } = source;
  const tooLarge = sql`(SELECT '[' || json_array(${isNew}, json(${key}), NULL) || ']' ${from})`;
  const answer = sql`iif(octet_length(r) <= ${integer(keptBytesMax)}, ${isNew} || r, ${tooLarge})`;
  // LIMIT inside and WHERE outside together keep SQLite from flattening the subquery, which would make the row's JSON
  // twice.
  const written = sql`(SELECT ${row} AS r ${from} AND changes() = 1 LIMIT 1)`;
  return perPeriod(
    (period) =>
      sql`INSERT OR REPLACE INTO _idempotency (period, name, hash, at, answer) SELECT ${period}, ${slot("kept.name")}, ${slot("kept.hash")}, ${slot("kept.at")}, ${answer} FROM ${written} WHERE 1`,
  );
});

/**
 * The rows of a kept answer. An answer that `keepWritten` has kept is 1 or 0 for whether the row is new, and then its
 * RETURNING text, which has the key.
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

/** Keeps the answer of a request that is one write of several rows, which `source` finds in their order. */
export function keepRows(
  source: AnswerSource,
  request: KeptRequest,
  values: readonly SlotValues[],
): Statement {
  const { row, key, from } = source;
  const rows = (text: Sql) =>
    sql`(SELECT json_group_array(json_array(1, json(k), ${text})) FROM (SELECT ${key} AS k, ${row} AS r ${from}))`;
  const bytes = sql`(SELECT sum(octet_length(r)) FROM (SELECT ${row} AS r ${from}))`;
  return bind(
    sql`INSERT OR REPLACE INTO _idempotency (period, name, hash, at, answer) SELECT ${slot("kept.period")}, ${slot("kept.name")}, ${slot("kept.hash")}, ${slot("kept.at")}, iif(${bytes} <= ${integer(keptBytesMax)}, ${rows(sql`r || ''`)}, ${rows(sql`NULL`)})`,
    [keptValues(request), ...values],
  );
}

/** Keeps a text as the answer of a request: `value` is SQL that makes the text. */
export function keepValue(request: KeptRequest, value: Sql, values: readonly SlotValues[]): Statement {
  return bind(
    sql`INSERT OR REPLACE INTO _idempotency (period, name, hash, at, answer) SELECT ${slot("kept.period")}, ${slot("kept.name")}, ${slot("kept.hash")}, ${slot("kept.at")}, ${value}`,
    [keptValues(request), ...values],
  );
}

/** A SELECT for right after an answer was kept: undoes the batch where the answered row was not found any more. */
export function ifKept(abort: string): Statement {
  return statement("SELECT CASE WHEN changes() = 1 THEN 1 ELSE json_extract('{}', ?) END AS held", abort);
}

/** Replaces the kept answer of a request by another text. */
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

/** Keeps the answer of one of several writes until `keepAll` puts them together. */
export function keepForLater(source: AnswerSource, index: number, values: readonly SlotValues[]): Statement {
  const as = `answer.${String(index).padStart(6, "0")}`;
  return bind(keepForLaterSql(source), [new Map([["kept.name", as]]), ...values]);
}

const staged = "FROM _staged WHERE name >= 'answer.' AND name < 'answer/'";

/** Keeps the answer of a request that is several writes, put together from what `keepForLater` has kept of each. */
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

/** The value that an earlier statement of the same transaction has kept under a name, which is given in the slot. */
export function stagedValue(slot: Slot): Sql {
  return sql`(SELECT value FROM _staged WHERE name = ${param(slot)})`;
}

/**
 * Keeps a column of a row for later statements of the transaction. Undoes the batch where the caller may not read the
 * column's row.
 */
export function stageColumn(
  { from, readable }: AnswerSource,
  column: { readonly name: ColumnName; readonly isKey: boolean },
  as: string,
  values: readonly SlotValues[],
  abort: string,
): readonly Statement[] {
  // A column of the key needs no rule: whoever writes a row is shown its key.
  const shown = column.isKey ? sql`1` : readable;
  return [
    bind(
      sql`INSERT INTO _staged (name, value) SELECT ${param(new Slot("staged.name"))}, ${name(column.name)} ${from} AND ${shown}`,
      [new Map([["staged.name", as]]), ...values],
    ),
    ifKept(abort),
  ];
}

/** Keeps whether a row exists, before a statement that creates it if it does not; read by `wasThere`. */
export function stageIsThere(isThere: Sql, values: readonly SlotValues[]): Statement {
  return bind(sql`INSERT OR REPLACE INTO _staged (name, value) SELECT 'was there', ${isThere}`, values);
}

/** Whether the row existed, as `stageIsThere` has kept it last: 1 or 0. */
export const wasThere: Sql = sql`(SELECT value FROM _staged WHERE name = 'was there')`;

/** Empties the table `_staged`, in which a transaction keeps values for its later statements. */
export const clearStaged: Statement = statement("DELETE FROM _staged");

/** Deletes answers that have been kept for a day, at most `rowsMax` of them. */
export function retireAnswers(nowMs: number, rowsMax: number): Statement {
  const period = BigInt(periodOf(nowMs - keptMs));
  return statement(
    "DELETE FROM _idempotency WHERE (period, name) IN (SELECT period, name FROM _idempotency WHERE period < ? ORDER BY period, name LIMIT ?)",
    period,
    BigInt(rowsMax),
  );
}
