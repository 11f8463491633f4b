import type { Column, Table } from "../../project/model.js";
import type { Expression } from "../../rules/ast.js";
import type { Catalog, CatalogTable } from "../../schema/catalog.js";
import { and, chain, commaList, empty, name, param, Slot, type Sql, sql } from "../sql-text/fragment.js";
import { type Guard, type GuardPart, guardOf, partsOf } from "./guard.js";
import { changedRow, storedRow } from "./judged-row.js";
import { type Returned, returningOf } from "./returning.js";
import { keyIs, keyJson, rowWith, type Values, valueSql } from "./row-key.js";
import { blobsAsLiterals } from "./wire.js";
import { aborting, guardedBy, readableBy, type WriteStatement } from "./write-statement.js";

/**
 * What an update or a delete expects of the stored row, beside the rule; otherwise it writes nothing. The caller has to
 * be able to read the row (`readRule`), because the outcome reveals something of it.
 */
export interface Precondition {
  readonly readRule: Expression;
  /** Null where the row need only be readable. */
  readonly expected: ExpectedState | null;
}

type ExpectedState =
  /** The row has one of the versions in the slot `versions`, a JSON array of integers as texts. */
  | { readonly kind: "version"; readonly column: Column }
  /** Each of these columns has the value that the request expects. NULL meets NULL. */
  | { readonly kind: "values"; readonly values: Values };

/** An update of a row. `rule` has to admit it, and `returned` is what its statement returns. */
export interface RowUpdate {
  readonly table: Table;
  readonly key: Values;
  /** The new values. */
  readonly patch: Values;
  readonly rule: Expression;
  readonly returned: Returned;
  readonly catalog: Catalog;
  readonly precondition?: Precondition | null;
}

/**
 * Makes the statement that updates a row. The rule has to be TRUE twice: with the row before the change as `row`, and
 * with the row after it (`docs/reference/rules.md#update-rules`). A column for versions, if the table has one, is
 * raised by one. The statement returns the text of the row, or no row where the rule denies, the precondition does not
 * hold, no row has the key or a trigger ignores the update.
 */
export function updateStatement({
  table,
  key,
  patch,
  rule,
  returned,
  catalog,
  precondition = null,
}: RowUpdate): WriteStatement {
  const target = name(table.name);
  const { changed, parts } = changedRow(table, patch, catalog);
  const assignments = [...changed].map(([column, value]) => sql`${name(column.name)} = ${valueSql(value)}`);
  const returning = returningOf(table, returned, catalog);
  const { condition, from, ...found } = foundRow(table, key, parts(rule), precondition, catalog);
  const readable = readableBy(table, returned.rule, catalog);
  return {
    ...found,
    statement: sql`UPDATE OR ABORT ${target} SET ${commaList(assignments)} WHERE ${condition} RETURNING ${returning.row} AS row`,
    answer: { row: returning.row, key: keyJson(table, catalog), from, readable, isNew: sql`0` },
    exact: found.exact && returning.exact,
    seeks: [...found.seeks, ...returning.seeks],
  };
}

/**
 * Makes the condition for the WHERE of an update or a delete: the key, the rule (`parts`) and the precondition. With it
 * comes the SQL that tells afterwards why no row met the condition.
 */
function foundRow(
  table: Table,
  key: Values,
  parts: readonly GuardPart[],
  precondition: Precondition | null,
  catalog: Catalog,
) {
  const target = name(table.name);
  const physical = catalog.tables.get(table.name);
  const hasKey = keyIs(table, key, target, catalog);
  const rule = guardOf(parts, catalog);
  const from = rowWith(table, key, catalog);
  const rows = (condition: Sql) => sql`FROM ${target} WHERE ${and([hasKey, condition])}`;
  const admitted = sql`SELECT 1 AS admitted ${rows(rule.condition)}`;
  const missing = sql`WHEN NOT EXISTS (SELECT 1 ${from}) THEN 'missing'`;
  const built = (rules: Guard, expected: readonly Sql[], reason: () => Sql) => {
    const probes = rules.measured(empty, target, hasKey);
    return {
      condition: and([hasKey, rules.condition, ...expected]),
      from,
      probes,
      admitted,
      ...guardedBy(() => aborting(reason())),
      asked: probes,
      exact: rules.exact,
      seeks: [{ alias: table.name, columns: [...key.keys()].map((column) => column.name) }, ...rules.seeks],
    };
  };
  if (precondition === null)
    return built(rule, [], () => sql`CASE ${missing} WHEN EXISTS (${admitted}) THEN 'ignored' ELSE 'denied' END`);
  const { readRule, expected } = precondition;
  const reading = partsOf(readRule, storedRow(table, catalog));
  const both = guardOf([...reading, ...parts], catalog);
  const checked = expected && {
    isMet: expectation(expected, target, physical),
    difference: differenceOf(expected, target, physical),
  };
  return built(both, checked === null ? [] : [checked.isMet], () => {
    const readable = readableBy(table, readRule, catalog);
    const unreadable = sql`WHEN NOT EXISTS (SELECT 1 ${rows(readable)}) THEN 'unreadable'`;
    const denied = sql`WHEN NOT EXISTS (${admitted}) THEN 'denied'`;
    const other =
      checked === null
        ? sql`'ignored'`
        : sql`ifnull((SELECT ${checked.difference} ${rows(sql`NOT (${checked.isMet})`)}), 'ignored')`;
    return sql`CASE ${missing} ${unreadable} ${denied} ELSE ${other} END`;
  });
}

function expectation(expected: ExpectedState, target: Sql, physical: CatalogTable | undefined): Sql {
  if (expected.kind === "values") return and(sameValues(expected.values, target, physical));
  const version = sql`CAST(${target}.${name(expected.column.name)} AS TEXT)`;
  // Not IS TRUE: SQLite reads TRUE as a column where the table has one of that name.
  return sql`ifnull(${version} IN (SELECT value FROM json_each(${param(new Slot("versions"))})), 0)`;
}

/** For each of these columns, the condition that the stored value is the one that the client expects. */
function sameValues(values: Values, target: Sql, physical: CatalogTable | undefined): readonly Sql[] {
  return [...values].map(([{ name: column, type }, value]) => {
    const stored = sql`${target}.${name(column)}`;
    // JSON is compared in SQLite's normal form, because the client may have written the same value with other spaces or
    // escapes.
    if (type === "json") return sql`iif(json_valid(${stored}), json(${stored}), ${stored}) IS json(${valueSql(value)})`;
    // In a column that may hold values of other types, these are compared as the client was shown them.
    const isLoose = physical?.affinities.has(column);
    if (isLoose && type === "blob") return sql`CAST(${stored} AS BLOB) IS ${valueSql(value)}`;
    if (isLoose && type === "text")
      return sql`${blobsAsLiterals(stored, sql`CAST(${stored} AS TEXT)`)} IS ${valueSql(value)}`;
    return physical?.collations.has(column)
      ? sql`${stored} COLLATE BINARY IS ${valueSql(value)}`
      : sql`${stored} IS ${valueSql(value)}`;
  });
}

function differenceOf(expected: ExpectedState, target: Sql, physical: CatalogTable | undefined): Sql {
  if (expected.kind === "version") return sql`'stale'`;
  const digits = sameValues(expected.values, target, physical).map((same) => sql`iif(${same}, '0', '1')`);
  return sql`'changed:' || ${chain(digits, sql` || `)}`;
}

/**
 * Makes the statement that deletes a row if the rule is TRUE. It returns the row's primary key as JSON, or no row where
 * the rule denies, the precondition does not hold, no row has the key or a trigger ignores the delete.
 */
export function deleteStatement(
  table: Table,
  key: Values,
  rule: Expression,
  catalog: Catalog,
  precondition: Precondition | null = null,
): WriteStatement {
  const parts = partsOf(rule, storedRow(table, catalog));
  const returned = keyJson(table, catalog);
  const { condition, from, ...found } = foundRow(table, key, parts, precondition, catalog);
  return {
    ...found,
    statement: sql`DELETE FROM ${name(table.name)} WHERE ${condition} RETURNING ${returned} AS row`,
    // A delete is answered with the row's key alone, which the caller is shown whether they may read the row or not.
    answer: { row: returned, key: returned, from, readable: sql`0`, isNew: sql`0` },
  };
}
