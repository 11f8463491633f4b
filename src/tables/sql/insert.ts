import type { Table } from "../../project/model.js";
import type { Expression } from "../../rules/ast.js";
import { alwaysTrue } from "../../rules/fold.js";
import { columnsOf } from "../../rules/walk.js";
import type { Catalog } from "../../schema/catalog.js";
import { carried, commaList, name, type Sql, sql } from "../sql-text/fragment.js";
import { guardOf } from "./guard.js";
import { newRow } from "./judged-row.js";
import type { AnswerSource } from "./kept-answers.js";
import { type Returned, returningOf, withKey } from "./returning.js";
import { keyJson, keyOf, rowWith, type Values, valueSql } from "./row-key.js";
import { aborting, guardedBy, readableBy, type WriteStatement } from "./write-statement.js";

/**
 * Makes the statement that inserts a row if the rule is TRUE for it. It returns the text of the row, or no row where
 * the rule denies or a trigger ignores the insert. Defaults that the rule reads are evaluated once, in the statement,
 * so that the rule tests the values that are stored. With `unless`, nothing is inserted where the row of `unless`
 * exists, and a rule that denies undoes the batch (`Unless.isKnown` says when it is tested).
 *
 * OR ABORT stands in inserts and updates because a table of an existing database may be declared with ON CONFLICT
 * REPLACE, which would delete other rows without testing a rule for them.
 */
export function insertStatement(
  table: Table,
  values: Values,
  rule: Expression,
  returned: Returned,
  catalog: Catalog,
  unless: Unless | null = null,
): WriteStatement {
  const returning = withKey(table, values, returningOf(table, returned, catalog), catalog);
  const target = name(table.name);
  const { ignore } = catalog.tables.get(table.name)!.triggers.insert;
  const from = unless?.from ?? insertedRow(table, values, catalog);
  const answer = from && insertedAnswer(table, from, returning.row, returned.rule, catalog);
  const admittedBy = (admitted: Sql) => ({
    admitted,
    ...guardedBy(() =>
      aborting(ignore ? sql`CASE WHEN EXISTS (${admitted}) THEN 'ignored' ELSE 'denied' END` : sql`'denied'`),
    ),
  });
  if (alwaysTrue(rule) && unless === null) {
    const columns = [...values.keys()].map((column) => name(column.name));
    const source =
      columns.length === 0
        ? sql`DEFAULT VALUES`
        : sql`(${commaList(columns)}) VALUES (${commaList([...values.values()].map(valueSql))})`;
    return {
      statement: sql`INSERT OR ABORT INTO ${target} ${source} RETURNING ${returning.row} AS row`,
      probes: null,
      ...admittedBy(sql`SELECT 1 AS admitted`),
      answer,
      asked: null,
      exact: returning.exact,
      seeks: returning.seeks,
    };
  }
  const read = [...columnsOf(rule, "new")].map((column) => table.columns.get(column)!);
  const columns = [...new Set([...values.keys(), ...read])];
  // Where neither the request nor the rule names a column, the first column of the table is inserted with its default,
  // because INSERT … SELECT needs at least one column.
  const inserted = columns.length > 0 ? columns : [[...table.columns.values()][0]!];
  const { cte, names } = newRow(inserted, values, catalog.tables.get(table.name));
  const guard = guardOf([{ terms: [rule], names }], catalog);
  const columnList = commaList(inserted.map((column) => name(column.name)));
  const carriedList = commaList(inserted.map((column) => carried(column.name)));
  const row = sql`WITH ${cte}`;
  const probes = guard.measured(row, sql`_n`);
  const condition = unless === null ? guard.condition : conditionUnless(unless, guard.condition);
  return {
    statement: sql`${row} INSERT OR ABORT INTO ${target} (${columnList}) SELECT ${carriedList} FROM _n WHERE ${condition} RETURNING ${returning.row} AS row`,
    probes,
    ...admittedBy(sql`${row} SELECT 1 AS admitted FROM _n WHERE ${guard.condition}`),
    answer,
    asked: probes,
    exact: guard.exact && returning.exact,
    seeks: [...guard.seeks, ...returning.seeks],
  };
}

/** SQL about an existing row in whose presence an insert (of an upsert) does nothing. */
export interface Unless {
  /** `FROM … WHERE …` that finds the row. */
  readonly from: Sql;
  readonly isThere: Sql;
  /**
   * The condition that the row exists and the caller may know that. Where it is not met, the rule of the insert is
   * tested first: a caller whom it denies is refused, whether the row exists or not.
   */
  readonly isKnown: Sql;
  /** Whether the key of a new row would be incomplete. Where the row does not exist, the batch is undone then. */
  readonly isUnkeyed: boolean;
}

function conditionUnless({ isThere, isKnown, isUnkeyed }: Unless, rule: Sql): Sql {
  const isNew = isThere === isKnown ? sql`1` : sql`NOT ${isThere}`;
  const create = isUnkeyed ? sql`CASE WHEN ${isNew} THEN ${aborting(sql`'unkeyed'`)} ELSE 0 END` : isNew;
  return sql`CASE WHEN ${isKnown} THEN 0 WHEN ${rule} THEN ${create} ELSE ${aborting(sql`'not created'`)} END`;
}

function insertedAnswer(table: Table, from: Sql, row: Sql, readRule: Expression, catalog: Catalog): AnswerSource {
  const readable = readableBy(table, readRule, catalog);
  return { row, key: keyJson(table, catalog), from, readable, isNew: sql`1` };
}

function insertedRow(table: Table, values: Values, catalog: Catalog): Sql | null {
  const target = name(table.name);
  const { rowid } = catalog.tables.get(table.name)!;
  if (rowid !== null) return sql`FROM ${target} WHERE ${target}.${name(rowid)} = last_insert_rowid()`;
  const key = keyOf(table);
  if (key.length === 0 || !key.every((column) => values.has(column))) return null;
  const given: Values = new Map(key.map((column) => [column, values.get(column)!]));
  return rowWith(table, given, catalog);
}

/**
 * Makes a SELECT for right after an insert: it undoes the batch where the new row's rowid is beyond ±(2^53−1), which a
 * JavaScript number cannot hold. SQLite numbers a new row after the highest one, so a single high number leads there.
 */
export function rowidCheck(): Sql {
  return sql`SELECT CASE WHEN last_insert_rowid() BETWEEN -9007199254740991 AND 9007199254740991 THEN 1 ELSE ${aborting(sql`'unnumbered'`)} END AS held`;
}
