import type { OperationStep, ReturnedColumn } from "../../project/model.js";
import type { Expression } from "../../rules/ast.js";
import type { Catalog, CatalogTable } from "../../schema/catalog.js";
import { boundSql, type ProvedSql } from "../../sqlite/proof.js";
import { isKeyword } from "../../sqlite/sql-tokens.js";
import { commaList, integer, internalName, param, Slot, type Sql, sql } from "./fragment.js";
import { guardOf } from "./guard.js";
import { namesOf } from "./predicate.js";
import { jsonObject, storedBytes } from "./wire.js";

/** What stands in the place of a value where an operation is refused for a reason. */
export type Refused = (reason: string) => Sql;

/** The reason where a step returns more rows, or more bytes, than an answer may have. */
export const tooManyRows = "rows";
/** The same, of bytes. */
export const tooManyBytes = "bytes";
/** The reason where a step that returns one row has none. */
export const noRow = "none";

/** How many rows an operation answers with at most. */
export const returnedRowsMax = 1_000;

/** A value that undoes the batch: `text` is what `abortText` has made. A reading statement must not have it. */
export function undoing(text: string): Sql {
  return sql`json_extract('{}', ${param(text)})`;
}

/**
 * `value` where the rule of an operation is TRUE, else what `refused` gives. The rule is specialised and names no row.
 * `exact`: it looks up single rows by indexes.
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

/** A statement that returns one value, which is never NULL. */
export function only(value: Sql): Sql {
  return sql`SELECT ${value} AS answer`;
}

/** `value` where a SELECT finds so many rows, else what `refused` gives. */
export function whereFound(select: ProvedSql, expected: number, value: Sql, refused: Sql): Sql {
  return sql`CASE WHEN (SELECT count(*) FROM (${ownersText(select)})) = ${integer(expected)} THEN ${value} ELSE ${refused} END`;
}

/** `value` where the statement before has inserted, updated or deleted so many rows itself, else what `refused` gives. */
export function whereChanged(expected: number, value: Sql, refused: Sql): Sql {
  return sql`CASE WHEN changes() = ${integer(expected)} THEN ${value} ELSE ${refused} END`;
}

/** As `whereChanged`, where it has at least one, or at most so many. */
export function whereChangedWithin(least: number, most: number, value: Sql, refused: Refused): Sql {
  return sql`CASE WHEN changes() < ${integer(least)} THEN ${refused(noRow)} WHEN changes() > ${integer(most)} THEN ${refused(tooManyRows)} ELSE ${value} END`;
}

/** How many rows the statement before has inserted, updated or deleted itself, triggers and foreign keys aside. */
export const changedRows: Sql = sql`SELECT changes() AS changed`;

/** A statement of the owner's, or a part of it, with a slot for each parameter. */
export function ownersText(statement: ProvedSql, from?: number, to?: number): Sql {
  const { text, parameters } = boundSql(statement, from, to);
  return { text, params: parameters.map((name) => new Slot(name)) };
}

/**
 * What a SELECT that returns rows answers with, as a value: JSON text of a row or of an array of rows, not finished yet
 * (`finishRows`), or what `refused` gives.
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

/** A write that returns rows, each as JSON text, not finished yet. */
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

/** What is known of returned columns: nothing of the values that they may have, as expressions have no type. */
function anyValues(columns: readonly ReturnedColumn[]): Pick<CatalogTable, "affinities"> {
  return { affinities: new Map(columns.map(({ name }) => [name, "blob" as const])) };
}
