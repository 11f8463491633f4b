import type { Column, Table } from "../../project/model.js";
import type { ColumnReference, Expression } from "../../rules/ast.js";
import { alwaysTrue } from "../../rules/fold.js";
import { columnsOf, conjuncts, outermostExists } from "../../rules/walk.js";
import type { Catalog, CatalogTable } from "../../schema/catalog.js";
import type { Counted } from "../plan-check.js";
import { shownColumn } from "./candidates.js";
import {
  and,
  commaList,
  empty,
  name,
  ownersSql,
  param,
  physicalName,
  type Sql,
  sql,
  sum,
} from "./fragment.js";
import { guardOf } from "./guard.js";
import { namesOf, predicate, type SqlNames } from "./predicate.js";
import { probe, probeMatched, probeName, seeksOf } from "./probe.js";
import { type Returned, returningOf, withKey } from "./returning.js";
import { keyIs, keyOf, keySeek, type Values } from "./row-key.js";
import { jsonObject, jsonWithin } from "./wire.js";

/** What comes back of a row that was written: JSON behind the number of rows that the read rule's probes visited. */
export interface WriteStatement extends Counted<Sql> {
  /**
   * For right before the write, where its rule has an `exists`: `[probed]`, the rows that the rule's probes visit; no row
   * where there is none to change. Null where the rule needs no probe.
   */
  readonly probes: Sql | null;
  /** Returns a row where there is one to write and the rule admits it. */
  readonly admitted: Sql;
}

/**
 * A row by its key: `[admitted, json, probed]`, where `json` is NULL for a row that no answer can hold, and `probed` how many
 * rows the rule's probes visited. No row: nothing was found, and nothing examined.
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
    ...[...columns].map((column) => shownColumn(catalog, table, name(column))),
    ...probes.map(({ value }, i) => sql`${value} AS ${probeName(i)}`),
  ];
  const probed = nodes.map((_, i) => sql`(_w.${probeName(i)} IS NOT NULL)`);
  const row = jsonWithin(catalog, table, output, (column) => sql`_w.${name(column.name)}`, sql`NULL`);
  // What probes find is found once: behind a limit, SQLite does not merge the two queries. Without one it makes no table of it.
  const once = probes.length === 0 ? empty : sql` LIMIT 1`;
  const found = sql`SELECT ${commaList(list)} FROM ${name(table.name)} AS _t WHERE ${keyIs(table, key, sql`_t`, catalog)}${once}`;
  const admitted = sql`CASE WHEN ${predicate(rule, outer)} THEN 1 ELSE 0 END`;
  const statement = sql`SELECT ${admitted} AS admitted, ${row} AS row, ${sum(probed)} AS probed FROM (${found}) AS _w`;
  return {
    statement,
    asked: statement,
    exact: probes.every(({ exact }) => exact),
    seeks: [keySeek("_t", table), ...seeksOf(probes)],
  };
}

/** Whether a row of that key is there: to tell 403 from 404. */
export function presenceStatement(table: Table, key: Values, catalog: Catalog): Sql {
  return sql`SELECT 1 FROM ${name(table.name)} AS _t WHERE ${keyIs(table, key, sql`_t`, catalog)} LIMIT 1`;
}

/**
 * INSERT guarded by the rule over the row as it would be. Defaults that the rule reads are evaluated once and are what
 * is stored. The row that comes back is the result; none: the rule said no. ABORT is said aloud here and in updates, as
 * a pulled table's own ON CONFLICT REPLACE would delete rows that no rule was asked for.
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
  // A rule that reads no column still guards the statement; one column is enough to insert by.
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

/** A value compares as its column does once it is stored there. */
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
 * UPDATE guarded by the rule, which has to be TRUE twice: with the row before the change in the place of `row`, and with
 * the row after it (docs/reference/rules.md).
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
          // Terms that the patch does not change are as TRUE for the row after as for the row before.
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
  const probes = guard.measured(sql``, target, keyIs(table, key, target, catalog));
  return {
    statement: sql`UPDATE OR ABORT ${target} SET ${commaList(assignments)} WHERE ${and([keyIs(table, key, target, catalog), guard.condition])} RETURNING ${returning.row} AS row`,
    probes,
    admitted: sql`SELECT 1 AS admitted FROM ${target} WHERE ${and([keyIs(table, key, target, catalog), guard.condition])}`,
    asked: probes,
    exact: guard.exact && returning.exact,
    seeks: [keySeek(table.name, table), ...guard.seeks, ...returning.seeks],
  };
}

/** DELETE guarded by the rule; what comes back is the primary key. */
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
  const probes = guard.measured(sql``, target, keyIs(table, key, target, catalog));
  return {
    statement: sql`DELETE FROM ${target} WHERE ${and([keyIs(table, key, target, catalog), guard.condition])} RETURNING ${returned} AS row`,
    probes,
    admitted: sql`SELECT 1 AS admitted FROM ${target} WHERE ${and([keyIs(table, key, target, catalog), guard.condition])}`,
    asked: probes,
    exact: guard.exact,
    seeks: [keySeek(table.name, table), ...guard.seeks],
  };
}
