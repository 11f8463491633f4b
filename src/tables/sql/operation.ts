import type { OperationStep, ReturnedColumn } from "../../project/model.js";
import type { Expression } from "../../rules/ast.js";
import { type Catalog, type CatalogTable, functionArgumentsMin } from "../../schema/catalog.js";
import { boundSql } from "../../sqlite/bound-sql.js";
import type { ProvedSql } from "../../sqlite/proof.js";
import { isKeyword } from "../../sqlite/sql-tokens.js";
import { commaList, integer, internalName, param, Slot, type Sql, sql } from "../sql-text/fragment.js";
import { guardOf } from "./guard.js";
import { namesOf } from "./predicate.js";
import { jsonObject, storedBytes } from "./wire.js";

/**
 * Makes the SQL that takes the place of an operation's value where the operation is refused: it undoes the batch of an
 * operation that writes, and is a text with the reason in one that only reads.
 */
export type Refused = (reason: string) => Sql;

/** The reason for refusing an operation one of whose steps returns more rows than an answer may have. */
export const tooManyRows = "rows";
/** The reason for refusing an operation one of whose steps returns more bytes than an answer may have. */
const tooManyBytes = "bytes";
/** The reason for refusing an operation whose step has to return a row and has none. */
export const noRow = "none";

/** How many rows an operation answers with at most. */
export const returnedRowsMax = 1_000;

/**
 * SQL that takes the place of a value and undoes the batch when it is evaluated. `text` is what `abortText` has made.
 * It is not for statements that only read: these answer with the reason for the refusal instead.
 */
export function undoing(text: string): Sql {
  return sql`json_extract('{}', ${param(text)})`;
}

/**
 * Makes the SQL of `value` where the rule of an operation is TRUE, else of `refused`. The rule `allow` has been adapted
 * to the caller and names no row. `exact` is whether each `exists` of the rule looks up single rows by indexes.
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

/** Makes a statement that returns one row with one value, which must not be NULL. */
export function only(value: Sql): Sql {
  return sql`SELECT ${value} AS answer`;
}

/** Makes the SQL of `value` where the SELECT of a step finds exactly `expected` rows, else of `refused`. */
export function whereFound(select: ProvedSql, expected: number, value: Sql, refused: Sql): Sql {
  return sql`CASE WHEN (SELECT count(*) FROM (${ownersText(select)})) = ${integer(expected)} THEN ${value} ELSE ${refused} END`;
}

/**
 * Makes the SQL of `value` where the statement right before has itself inserted, updated or deleted `expected` rows,
 * else of `refused`. Rows that triggers and foreign keys have changed do not count.
 */
export function whereChanged(expected: number, value: Sql, refused: Sql): Sql {
  return sql`CASE WHEN changes() = ${integer(expected)} THEN ${value} ELSE ${refused} END`;
}

/**
 * Makes the SQL of `value` where the statement right before has itself inserted, updated or deleted from `least` to
 * `most` rows, else of what `refused` gives for the reason `noRow` or `tooManyRows`.
 */
export function whereChangedWithin(least: number, most: number, value: Sql, refused: Refused): Sql {
  return sql`CASE WHEN changes() < ${integer(least)} THEN ${refused(noRow)} WHEN changes() > ${integer(most)} THEN ${refused(tooManyRows)} ELSE ${value} END`;
}

/**
 * A SELECT of how many rows the statement right before has itself inserted, updated or deleted. Rows that triggers and
 * foreign keys have changed do not count.
 */
export const changedRows: Sql = sql`SELECT changes() AS changed`;

/**
 * Returns a statement that the project's owner wrote for an operation, or a part of it: from the token with the number
 * `from` to the one before `to`. Each of its parameters becomes a slot.
 */
export function ownersText(statement: ProvedSql, from?: number, to?: number): Sql {
  const { text, parameters } = boundSql(statement, from, to);
  return { text, params: parameters.map((name) => new Slot(name)) };
}

/**
 * Returns the answer of an operation's SELECT as SQL for one value. For a step that returns one row it is the JSON text
 * of the SELECT's first row, for others that of an array of its rows; or it is what `refused` gives where there is no
 * such first row, or where there are too many rows or bytes. In the JSON, reals and blobs do not have their final form
 * yet (`finishRows`).
 */
export function selectedJson({ statement, columns, returns }: OperationStep, bytesMax: number, refused: Refused): Sql {
  const names = commaList(columns.map((_, i) => internalName("v", i)));
  const refer = (column: ReturnedColumn) => internalName("v", columns.indexOf(column));
  const limit = integer(returns === "one" ? 1 : returnedRowsMax + 1);
  const object = jsonObject(columns, refer, anyValues(columns));
  const json = returns === "one" ? sql`SELECT ${object} FROM _r` : sql`SELECT json_group_array(${object}) FROM _r`;
  const count = sql`(SELECT count(*) FROM _r)`;
  const refusedCount =
    returns === "one"
      ? sql`${count} = 0 THEN ${refused(noRow)}`
      : sql`${count} > ${integer(returnedRowsMax)} THEN ${refused(tooManyRows)}`;
  // MATERIALIZED makes SQLite evaluate each expression of the owner's SELECT once, and not again wherever its value is
  // used.
  return sql`(WITH _r (${names}) AS MATERIALIZED (SELECT * FROM (${ownersText(statement)}) LIMIT ${limit})
  SELECT CASE WHEN ${refusedCount}
  WHEN (SELECT total(${storedBytes(columns, refer)}) FROM _r) > ${integer(bytesMax)} THEN ${refused(tooManyBytes)}
  ELSE (${json}) END)`;
}

/**
 * Makes the statement of a step of an operation that writes and returns rows, each as JSON text, in which reals and
 * blobs do not have their final form yet (`finishRows`).
 */
export function returningJson({ statement, columns }: OperationStep): Sql {
  const returning = statement.tokens.findLastIndex((token) => isKeyword(token, "returning"));
  const values = columns.map(({ from, to }, i) => sql`${ownersText(statement, from, to)} AS ${internalName("v", i)}`);
  const refer = (column: ReturnedColumn) => sql`_r.${internalName("v", columns.indexOf(column))}`;
  const object = jsonObject(columns, refer, anyValues(columns));
  // LIMIT in the subquery and WHERE outside of it make SQLite evaluate each expression of the owner's RETURNING once,
  // and not again wherever its value is used.
  return sql`${ownersText(statement, 0, returning)} RETURNING (SELECT ${object} FROM (SELECT ${commaList(values)} LIMIT 1) AS _r WHERE 1) AS answer`;
}

/**
 * Makes the argument that tells `jsonObject` that every column may hold any value (the affinity blob): nothing is known
 * of the values of the owner's expressions.
 */
function anyValues(columns: readonly ReturnedColumn[]): Pick<CatalogTable, "affinities" | "functionArgumentsMax"> {
  return {
    functionArgumentsMax: functionArgumentsMin,
    affinities: new Map(columns.map(({ name }) => [name, "blob" as const])),
  };
}
