import type { SqlValue, Statement } from "../../platform/database.js";
import type { Column, Table } from "../../project/model.js";
import type { Expression } from "../../project/rules/ast.js";
import { columnsOf } from "../../project/rules/columns-of.js";
import { alwaysTrue, neverTrue } from "../../project/rules/never-true.js";
import type { Catalog, CatalogTable } from "../../schema/catalog.js";
import {
  and,
  comma,
  internalName,
  join,
  name,
  ownersSql,
  param,
  physicalName,
  type Sql,
  sql,
  sum,
  toStatement,
} from "./fragment.js";
import { existsSql, noScope, predicate, type Scope } from "./predicate.js";
import { outermostExists, probe, probeMatched } from "./probe.js";
import { jsonObject, storedBytes } from "./wire.js";

/** Values by column. */
export type Values = ReadonlyMap<Column, SqlValue>;

/** What the caller gets to see of a row that was written: `full` where the rule admits it, else `minimal`. */
export interface Returned {
  readonly rule: Expression;
  readonly full: readonly Column[];
  readonly minimal: readonly Column[];
}

export interface RowStatement {
  readonly statement: Statement;
  /** Whether the number of rows that it examines is known: a guard's `exists` reports nothing. */
  readonly exact: boolean;
}

/**
 * A row by its key: `[json, admitted, probed]`, where the first is NULL for a row that no answer can hold, and the last is how many rows the rule's probes visited. No row:
 * nothing was found, and nothing examined.
 */
export function getStatement(
  table: Table,
  key: Values,
  rule: Expression,
  output: readonly Column[],
  catalog: Catalog,
): RowStatement {
  const nodes = outermostExists(rule);
  const t = (column: string) => name(column as Column["name"]);
  const inner: Scope = { ...noScope, row: (column) => sql`_t.${t(column)}` };
  const probes = nodes.map((node) => probe(node, inner, catalog));
  const outer: Scope = {
    ...noScope,
    row: (column) => sql`_w.${t(column)}`,
    exists: (node) => probeMatched(sql`_w.${probeName(nodes.indexOf(node))}`),
  };
  const columns = new Set([
    ...output.map((column) => column.name),
    ...columnsOf(rule, "row"),
    ...table.primaryKey,
  ]);
  const list = [
    ...[...columns].map((column) => sql`_t.${name(column)}`),
    ...probes.map(({ value }, i) => sql`${value} AS ${probeName(i)}`),
  ];
  const probed = nodes.map((_, i) => sql`(_w.${probeName(i)} IS NOT NULL)`);
  const row = jsonWithin(catalog, output, (column) => sql`_w.${name(column.name)}`, sql`NULL`);
  const found = sql`SELECT ${join(list, comma)} FROM ${name(table.name)} AS _t WHERE ${keyIs(key, sql`_t`)} LIMIT 1`;
  const admitted = sql`CASE WHEN ${predicate(rule, outer)} THEN 1 ELSE 0 END`;
  return {
    statement: toStatement(
      sql`SELECT ${row} AS row, ${admitted} AS admitted, ${sum(probed)} AS probed FROM (${found}) AS _w`,
    ),
    exact: probes.every(({ exact }) => exact),
  };
}

/** Whether a row of that key is there: to tell 403 from 404. */
export function presenceStatement(table: Table, key: Values): Statement {
  return toStatement(sql`SELECT 1 FROM ${name(table.name)} AS _t WHERE ${keyIs(key, sql`_t`)} LIMIT 1`);
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
): RowStatement {
  const returning = returningSql(table, returned, catalog);
  const target = name(table.name);
  if (alwaysTrue(rule)) {
    const columns = [...values.keys()].map((column) => name(column.name));
    const source =
      columns.length === 0
        ? sql`DEFAULT VALUES`
        : sql`(${join(columns, comma)}) VALUES (${join([...values.values()].map(param), comma)})`;
    return {
      statement: toStatement(sql`INSERT OR ABORT INTO ${target} ${source} RETURNING ${returning}`),
      exact: isExact(rule, returned.rule),
    };
  }
  const read = [...columnsOf(rule, "new")].map((column) => table.columns.get(column)!);
  const columns = [...new Set([...values.keys(), ...read])];
  const scope: Scope = {
    ...noScope,
    next: (column) => collated(sql`_n.${name(column)}`, column, catalog.tables.get(table.name)),
    exists: (node) => existsSql(node, scope),
  };
  // A rule that reads no column still guards the statement; one column is enough to insert by.
  if (columns.length === 0) columns.push([...table.columns.values()][0]!);
  const sources = columns.map((column) => sql`${given(column, values)} AS ${name(column.name)}`);
  const names = join(
    columns.map((column) => name(column.name)),
    comma,
  );
  return {
    statement: toStatement(
      sql`WITH _n AS MATERIALIZED (SELECT ${join(sources, comma)}) INSERT OR ABORT INTO ${target} (${names}) SELECT ${names} FROM _n WHERE ${predicate(rule, scope)} RETURNING ${returning}`,
    ),
    exact: isExact(rule, returned.rule),
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

export interface UpdateRule {
  readonly rule: Expression;
  /** Whether the rule as it is written names `new`. */
  readonly namesNew: boolean;
}

/**
 * UPDATE guarded by the rule. A rule that names only `row` holds before and after the change; one that names `new`
 * says itself what holds after (interface, section 5).
 */
export function updateStatement(
  table: Table,
  key: Values,
  patch: Values,
  { rule, namesNew }: UpdateRule,
  returned: Returned,
  catalog: Catalog,
): RowStatement {
  const target = name(table.name);
  const physical = catalog.tables.get(table.name);
  const patched = new Map([...patch].map(([column, value]) => [column.name as string, value]));
  const stored = (column: Column["name"]) => sql`${target}.${name(column)}`;
  const next = (column: Column["name"]) =>
    patched.has(column) ? collated(param(patched.get(column)!), column, physical) : stored(column);
  const before: Scope = { row: stored, next, exists: (node) => existsSql(node, before) };
  const after: Scope = { row: next, next, exists: (node) => existsSql(node, after) };
  const guards = [predicate(rule, before)];
  const touched = [...columnsOf(rule, "row")].some((column) => patched.has(column));
  if (!namesNew && touched) guards.push(predicate(rule, after));
  const assignments = [...patch].map(([column, value]) => sql`${name(column.name)} = ${param(value)}`);
  return {
    statement: toStatement(
      sql`UPDATE OR ABORT ${target} SET ${join(assignments, comma)} WHERE ${and([keyIs(key, target), ...(alwaysTrue(rule) ? [] : guards)])} RETURNING ${returningSql(table, returned, catalog)}`,
    ),
    exact: isExact(rule, returned.rule),
  };
}

/** DELETE guarded by the rule; what comes back is the primary key. */
export function deleteStatement(table: Table, key: Values, rule: Expression): RowStatement {
  const target = name(table.name);
  const scope: Scope = {
    ...noScope,
    row: (column) => sql`${target}.${name(column)}`,
    exists: (node) => existsSql(node, scope),
  };
  const guard = alwaysTrue(rule) ? [] : [predicate(rule, scope)];
  return {
    statement: toStatement(
      sql`DELETE FROM ${target} WHERE ${and([keyIs(key, target), ...guard])} RETURNING ${jsonObject(keyOf(table), ({ name: column }) => sql`${target}.${name(column)}`)}`,
    ),
    exact: isExact(rule),
  };
}

function keyIs(key: Values, alias: Sql): Sql {
  return and([...key].map(([column, value]) => sql`${alias}.${name(column.name)} = ${param(value)}`));
}

function returningSql(table: Table, { rule, full, minimal }: Returned, catalog: Catalog): Sql {
  const refer = ({ name: column }: Column) => sql`${name(table.name)}.${name(column)}`;
  const key = jsonObject(keyOf(table), refer);
  const object = (columns: readonly Column[]) => jsonWithin(catalog, columns, refer, key);
  if (alwaysTrue(rule)) return object(full);
  if (neverTrue(rule)) return object(minimal);
  const scope: Scope = {
    ...noScope,
    row: (column) => sql`${name(table.name)}.${name(column)}`,
    exists: (node) => existsSql(node, scope),
  };
  return sql`CASE WHEN ${predicate(rule, scope)} THEN ${object(full)} ELSE ${object(minimal)} END`;
}

/** A row as JSON, or something else where it is larger than an answer can be. */
function jsonWithin(
  { answerBytesMax }: Catalog,
  columns: readonly Column[],
  refer: (column: Column) => Sql,
  otherwise: Sql,
): Sql {
  const bytes = storedBytes(columns, refer);
  const row = jsonObject(columns, refer);
  if (bytes.text === "0") return row;
  return sql`CASE WHEN ${bytes} <= ${param(BigInt(answerBytesMax))} THEN ${row} ELSE ${otherwise} END`;
}

function keyOf(table: Table): readonly Column[] {
  return table.primaryKey.map((column) => table.columns.get(column)!);
}

function isExact(...rules: readonly Expression[]): boolean {
  return rules.every((rule) => outermostExists(rule).length === 0);
}

const probeName = (i: number): Sql => internalName("p", i);
