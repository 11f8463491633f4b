import type { Column, Table } from "../../project/model.js";
import type { ColumnReference, Expression } from "../../rules/ast.js";
import { alwaysTrue } from "../../rules/fold.js";
import { columnsOf, conjuncts, outermostExists } from "../../rules/walk.js";
import type { Catalog, CatalogTable } from "../../schema/catalog.js";
import type { Counted } from "../plan-check.js";
import { image } from "./as-of.js";
import { shownColumn } from "./candidates.js";
import {
  and,
  commaList,
  empty,
  integer,
  name,
  ownersSql,
  param,
  physicalName,
  type Sql,
  sql,
} from "./fragment.js";
import { guardOf } from "./guard.js";
import { loggedTable } from "./logged.js";
import { namesOf, predicate, type SqlNames } from "./predicate.js";
import { areExact, probe, probeColumns, probeMatched, probeName, rowsProbed, seeksOf } from "./probe.js";
import { type Returned, returningOf, withKey } from "./returning.js";
import { keyIs, keyOf, keySeek, type Values } from "./row-key.js";
import { jsonObject, jsonWithin } from "./wire.js";

/** A statement that writes one row, if its rule is TRUE. It returns the row as `returnedRow` reads it, or no row. */
export interface WriteStatement extends Counted<Sql> {
  /**
   * For metering: a SELECT of one number, how many rows are looked up for the `exists` of the write's rule. Run right
   * before the write. For an update or a delete it returns no row where none has the key; if it returns one, the row
   * exists. Null where the rule has no `exists`.
   */
  readonly probes: Sql | null;
  /**
   * A SELECT that returns a row where there is a row to write and the rule admits it. It tells whether the rule or a
   * trigger has prevented a write.
   */
  readonly admitted: Sql;
}

/**
 * Reads a row by its key: `[admitted, json, probed]`. `admitted` is 1 where the rule is TRUE, `json` is NULL for a row
 * that is too large for an answer, and `probed` is the number of rows that were looked up for the rule's `exists`. No
 * row where none has the key.
 */
export function getStatement(
  table: Table,
  key: Values,
  rule: Expression,
  output: readonly Column[],
  catalog: Catalog,
): Counted<Sql> {
  const nodes = outermostExists(rule);
  const names = namesOf(catalog.tables.get(table.name));
  const t = (column: string) => name(column as Column["name"]);
  const inner: SqlNames = { ...names, row: (column) => sql`_t.${t(column)}` };
  const probes = nodes.map((node) => probe(node, inner, catalog));
  const outer: SqlNames = {
    ...names,
    row: (column) => sql`_w.${t(column)}`,
    exists: (node) => probeMatched(sql`_w.${probeName(nodes.indexOf(node))}`),
  };
  const columns = new Set([
    ...output.map((column) => column.name),
    ...columnsOf(rule, "row"),
    ...table.primaryKey,
  ]);
  const list = [
    ...[...columns].map((column) => shownColumn(catalog, table, sql`_t`, name(column))),
    ...probeColumns(probes),
  ];
  const row = jsonWithin(catalog, table, output, (column) => sql`_w.${name(column.name)}`, sql`NULL`);
  // The LIMIT keeps SQLite from flattening the subquery, so that each `exists` is evaluated once. Without an `exists`
  // it is left out, because flattening then saves a temporary table.
  const once = probes.length === 0 ? empty : sql` LIMIT 1`;
  const found = sql`SELECT ${commaList(list)} FROM ${name(table.name)} AS _t WHERE ${keyIs(table, key, sql`_t`, catalog)}${once}`;
  const admitted = sql`CASE WHEN ${predicate(rule, outer)} THEN 1 ELSE 0 END`;
  const statement = sql`SELECT ${admitted} AS admitted, ${row} AS row, ${rowsProbed(probes, sql`_w`)} AS probed FROM (${found}) AS _w`;
  return {
    statement,
    asked: statement,
    exact: areExact(probes),
    seeks: [keySeek("_t", table), ...seeksOf(probes)],
  };
}

/** A SELECT that returns a row where one has the key. It tells 403 from 404 for a row that was not written. */
export function presenceStatement(table: Table, key: Values, catalog: Catalog): Sql {
  return sql`SELECT 1 FROM ${name(table.name)} AS _t WHERE ${keyIs(table, key, sql`_t`, catalog)} LIMIT 1`;
}

/**
 * A SELECT that fails where the statement before it in the batch has changed the row of this key, and the row's image is
 * too large since. To fail, it uses a path of JSON that is none, which `isTooLargeImage` finds in the message.
 */
export function imageCheck(table: Table, key: Values, catalog: Catalog, bytesMax: number): Sql {
  const logged = loggedTable(table, catalog.tables.get(table.name)!);
  const bytes = sql`length(CAST(${image(logged, sql`_t`)} AS BLOB))`;
  const path = sql`iif(${bytes} > ${integer(bytesMax)}, '${imageProblem}', '$')`;
  return sql`SELECT json_type('{}', ${path}) AS checked FROM ${name(table.name)} AS _t WHERE changes() > 0 AND ${keyIs(table, key, sql`_t`, catalog)}`;
}

const imageProblem: Sql = { text: "the image is too large", params: [] };

/** Whether the message of an error says that a value is larger than the database takes, or that `imageCheck` failed. */
export function isTooLargeImage(message: string): boolean {
  return message.includes(imageProblem.text) || message.includes("string or blob too big");
}

/**
 * Inserts a row if the rule is TRUE for it. Defaults that the rule reads are evaluated in the statement, once, so
 * that the rule is judged by the values that are stored. Returns the row, or no row where the rule denies. OR ABORT
 * stands here and in updates because a table of an existing database may be declared with ON CONFLICT REPLACE, which
 * would delete rows without asking their rule.
 */
export function insertStatement(
  table: Table,
  values: Values,
  rule: Expression,
  returned: Returned,
  catalog: Catalog,
): WriteStatement {
  const returning = withKey(table, values, returningOf(table, returned, catalog), catalog);
  const target = name(table.name);
  if (alwaysTrue(rule)) {
    const columns = [...values.keys()].map((column) => name(column.name));
    const source =
      columns.length === 0
        ? sql`DEFAULT VALUES`
        : sql`(${commaList(columns)}) VALUES (${commaList([...values.values()].map(param))})`;
    return {
      statement: sql`INSERT OR ABORT INTO ${target} ${source} RETURNING ${returning.row} AS row`,
      probes: null,
      admitted: sql`SELECT 1 AS admitted`,
      asked: null,
      exact: returning.exact,
      seeks: returning.seeks,
    };
  }
  const read = [...columnsOf(rule, "new")].map((column) => table.columns.get(column)!);
  const columns = [...new Set([...values.keys(), ...read])];
  const physical = catalog.tables.get(table.name);
  const next: SqlNames["next"] = (column) => collated(sql`_n.${name(column)}`, column, physical);
  const guard = guardOf([{ terms: [rule], names: { ...namesOf(physical), next } }], catalog);
  // Without values and without columns in the rule there would be no column to insert, but INSERT … SELECT needs one.
  if (columns.length === 0) columns.push([...table.columns.values()][0]!);
  const sources = columns.map((column) => sql`${given(column, values)} AS ${name(column.name)}`);
  const columnList = commaList(columns.map((column) => name(column.name)));
  const row = sql`WITH _n AS MATERIALIZED (SELECT ${commaList(sources)})`;
  const probes = guard.measured(row, sql`_n`);
  return {
    statement: sql`${row} INSERT OR ABORT INTO ${target} (${columnList}) SELECT ${columnList} FROM _n WHERE ${guard.condition} RETURNING ${returning.row} AS row`,
    probes,
    admitted: sql`${row} SELECT 1 AS admitted FROM _n WHERE ${guard.condition}`,
    asked: probes,
    exact: guard.exact && returning.exact,
    seeks: [...guard.seeks, ...returning.seeks],
  };
}

/**
 * A value with an explicit COLLATE where its column has a collation, so that it compares as it will when it is
 * stored.
 */
function collated(value: Sql, column: Column["name"], physical: CatalogTable | undefined): Sql {
  const collation = physical?.collations.get(column);
  return collation === undefined ? value : sql`(${value} COLLATE ${physicalName(collation)})`;
}

function given(column: Column, values: Values): Sql {
  const value = values.get(column);
  if (value !== undefined) return param(value);
  const fallback = column.default;
  if (fallback === null) return sql`NULL`;
  if (fallback.kind === "sql") return ownersSql(fallback.sql);
  return param(typeof fallback.value === "boolean" ? BigInt(fallback.value) : fallback.value);
}

/**
 * Updates a row if the rule is TRUE twice: with the row before the change as `row`, and with the row after it
 * (`docs/reference/rules.md#update-rules`). Returns the row, or no row where the rule denies or none has the key.
 */
export function updateStatement(
  table: Table,
  key: Values,
  patch: Values,
  rule: Expression,
  returned: Returned,
  catalog: Catalog,
): WriteStatement {
  const target = name(table.name);
  const physical = catalog.tables.get(table.name);
  const patched = new Map([...patch].map(([column, value]) => [column.name as string, value]));
  const stored = (column: Column["name"]) => sql`${target}.${name(column)}`;
  const next = (column: Column["name"]) =>
    patched.has(column) ? collated(param(patched.get(column)!), column, physical) : stored(column);
  const changes = (term: Expression) => [...columnsOf(term, "row")].some((column) => patched.has(column));
  const isSaid = (source: "new" | "row") => (reference: ColumnReference) =>
    (reference.source === "new" || reference.source === source) && patched.has(reference.column);
  const names = { ...namesOf(physical), old: stored, next };
  const guard = guardOf(
    alwaysTrue(rule)
      ? []
      : [
          { terms: [rule], names: { ...names, row: stored, isSaid: isSaid("new") } },
          // Only terms of the rule that read a changed column can have another result for the row after the change.
          {
            terms: conjuncts(rule).filter(changes),
            names: { ...names, row: next, isSaid: isSaid("row") },
            asksAgain: changes,
          },
        ],
    catalog,
  );
  const assignments = [...patch].map(([column, value]) => sql`${name(column.name)} = ${param(value)}`);
  const returning = returningOf(table, returned, catalog);
  const hasKey = keyIs(table, key, target, catalog);
  const where = and([hasKey, guard.condition]);
  const probes = guard.measured(empty, target, hasKey);
  return {
    statement: sql`UPDATE OR ABORT ${target} SET ${commaList(assignments)} WHERE ${where} RETURNING ${returning.row} AS row`,
    probes,
    admitted: sql`SELECT 1 AS admitted FROM ${target} WHERE ${where}`,
    asked: probes,
    exact: guard.exact && returning.exact,
    seeks: [keySeek(table.name, table), ...guard.seeks, ...returning.seeks],
  };
}

/** Deletes a row if the rule is TRUE. Returns its primary key, or no row where the rule denies or none has the key. */
export function deleteStatement(
  table: Table,
  key: Values,
  rule: Expression,
  catalog: Catalog,
): WriteStatement {
  const target = name(table.name);
  const row: SqlNames["row"] = (column) => sql`${target}.${name(column)}`;
  const names: SqlNames = { ...namesOf(catalog.tables.get(table.name)), row };
  const guard = guardOf(alwaysTrue(rule) ? [] : [{ terms: [rule], names }], catalog);
  const returned = jsonObject(
    keyOf(table),
    ({ name: column }) => sql`${target}.${name(column)}`,
    catalog.tables.get(table.name),
  );
  const hasKey = keyIs(table, key, target, catalog);
  const where = and([hasKey, guard.condition]);
  const probes = guard.measured(empty, target, hasKey);
  return {
    statement: sql`DELETE FROM ${target} WHERE ${where} RETURNING ${returned} AS row`,
    probes,
    admitted: sql`SELECT 1 AS admitted FROM ${target} WHERE ${where}`,
    asked: probes,
    exact: guard.exact,
    seeks: [keySeek(table.name, table), ...guard.seeks],
  };
}
