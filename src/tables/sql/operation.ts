import type { OperationStep, ReturnedColumn } from "../../project/model.js";
import type { Expression } from "../../rules/ast.js";
import type { Catalog, CatalogTable } from "../../schema/catalog.js";
import { boundSql, type ProvedSql } from "../../sqlite/proof.js";
import { isKeyword } from "../../sqlite/sql-tokens.js";
import { commaList, integer, internalName, param, Slot, type Sql, sql } from "./fragment.js";
import { guardOf } from "./guard.js";
import { namesOf } from "./predicate.js";
import { jsonObject, storedBytes } from "./wire.js";

/** Makes the SQL that stands in place of a value where an operation is refused for a reason. */
export type Refused = (reason: string) => Sql;

/** The reason for refusing an operation one of whose steps returns more rows than an answer may have. */
export const tooManyRows = "rows";
/** The reason for refusing an operation one of whose steps returns more bytes than an answer may have. */
export const tooManyBytes = "bytes";
/** The reason for refusing an operation whose step has to return a row and has none. */
export const noRow = "none";

/** How many rows an operation answers with at most. */
export const returnedRowsMax = 1_000;

/**
 * SQL for a value that undoes the batch: `text` is what `abortText` has made. A statement that only reads must not
 * contain it.
 */
export function undoing(text: string): Sql {
  return sql`json_extract('{}', ${param(text)})`;
}

/**
 * SQL for `value` where the rule of an operation is TRUE, else for what `refused` gives. The rule is specialised and
 * names no row. `exact`: the rule looks up single rows by indexes.
 */
export function whereAllowed(
  allow: Expression,
  catalog: Catalog,
  value: Sql,
  refused: Sql,
): { readonly value: Sql; readonly exact: boolean } {
  const { condition, exact } = guardOf([{ terms: [allow], names: namesOf(undefined) }], catalog);
  return { value: sql`CASE WHEN ${condition} THEN ${value} ELSE ${refused} END`, exact };
}

/** Makes a statement that returns one value, which is never NULL. */
export function only(value: Sql): Sql {
  return sql`SELECT ${value} AS answer`;
}

/** SQL for `value` where a SELECT finds exactly `expected` rows, else for what `refused` gives. */
export function whereFound(select: ProvedSql, expected: number, value: Sql, refused: Sql): Sql {
  return sql`CASE WHEN (SELECT count(*) FROM (${ownersText(select)})) = ${integer(expected)} THEN ${value} ELSE ${refused} END`;
}

/**
 * SQL for `value` where the statement before has itself inserted, updated or deleted `expected` rows, else for what
 * `refused` gives.
 */
export function whereChanged(expected: number, value: Sql, refused: Sql): Sql {
  return sql`CASE WHEN changes() = ${integer(expected)} THEN ${value} ELSE ${refused} END`;
}

/**
 * SQL for `value` where the statement before has itself changed from `least` to `most` rows, else for what `refused`
 * gives.
 */
export function whereChangedWithin(least: number, most: number, value: Sql, refused: Refused): Sql {
  return sql`CASE WHEN changes() < ${integer(least)} THEN ${refused(noRow)} WHEN changes() > ${integer(most)} THEN ${refused(tooManyRows)} ELSE ${value} END`;
}

/**
 * A SELECT of how many rows the statement before has itself inserted, updated or deleted, without triggers and foreign
 * keys.
 */
export const changedRows: Sql = sql`SELECT changes() AS changed`;

/** A statement of an operation, which the project's owner wrote, or a part of it, with a slot for each parameter. */
export function ownersText(statement: ProvedSql, from?: number, to?: number): Sql {
  const { text, parameters } = boundSql(statement, from, to);
  return { text, params: parameters.map((name) => new Slot(name)) };
}

/**
 * The answer of an operation's SELECT, as SQL for one value: JSON text of a row or of an array of rows, not in its
 * final form yet (`finishRows`), or what `refused` gives.
 */
export function selectedJson(
  { statement, columns, returns }: OperationStep,
  answerBytesMax: number,
  refused: Refused,
): Sql {
  const names = commaList(columns.map((_, i) => internalName("v", i)));
  const refer = (column: ReturnedColumn) => internalName("v", columns.indexOf(column));
  const limit = integer(returns === "one" ? 1 : returnedRowsMax + 1);
  const object = jsonObject(columns, refer, anyValues(columns));
  const json =
    returns === "one" ? sql`SELECT ${object} FROM _r` : sql`SELECT json_group_array(${object}) FROM _r`;
  const count = sql`(SELECT count(*) FROM _r)`;
  const refusedCount =
    returns === "one"
      ? sql`${count} = 0 THEN ${refused(noRow)}`
      : sql`${count} > ${integer(returnedRowsMax)} THEN ${refused(tooManyRows)}`;
  // MATERIALIZED keeps SQLite from evaluating an expression at each place where its value is used.
  return sql`(WITH _r (${names}) AS MATERIALIZED (SELECT * FROM (${ownersText(statement)}) LIMIT ${limit})
  SELECT CASE WHEN ${refusedCount}
  WHEN (SELECT total(${storedBytes(columns, refer)}) FROM _r) > ${integer(answerBytesMax)} THEN ${refused(tooManyBytes)}
  ELSE (${json}) END)`;
}

/** A write of an operation that returns rows, each as JSON text, not in its final form yet (`finishRows`). */
export function returningJson({ statement, columns }: OperationStep): Sql {
  const returning = statement.tokens.findLastIndex((token) => isKeyword(token, "returning"));
  const values = columns.map(
    ({ from, to }, i) => sql`${ownersText(statement, from, to)} AS ${internalName("v", i)}`,
  );
  const refer = (column: ReturnedColumn) => sql`_r.${internalName("v", columns.indexOf(column))}`;
  const object = jsonObject(columns, refer, anyValues(columns));
  // LIMIT inside and WHERE outside keep SQLite from evaluating an expression at each place where its value is used.
  return sql`${ownersText(statement, 0, returning)} RETURNING (SELECT ${object} FROM (SELECT ${commaList(values)} LIMIT 1) AS _r WHERE 1) AS answer`;
}

/** The affinities of returned columns for `jsonObject`: blob, because nothing is known of values of expressions. */
function anyValues(columns: readonly ReturnedColumn[]): Pick<CatalogTable, "affinities"> {
  return { affinities: new Map(columns.map(({ name }) => [name, "blob" as const])) };
}
