import { makesNumbers } from "../../project/migration/column-type.js";
import type { Column, Table } from "../../project/model.js";
import type { ColumnReference, Exists, Expression } from "../../project/rules/ast.js";
import { columnsOf } from "../../project/rules/columns-of.js";
import { conjuncts } from "../../project/rules/conjuncts.js";
import { alwaysTrue, neverTrue } from "../../project/rules/never-true.js";
import type { Catalog, CatalogTable } from "../../schema/catalog.js";
import type { Counted, Seek } from "../plan-check.js";
import { shownColumn } from "./candidates.js";
import {
  and,
  commaList,
  empty,
  integer,
  internalName,
  join,
  name,
  or,
  ownersSql,
  type Param,
  param,
  physicalName,
  type Sql,
  sql,
  sum,
} from "./fragment.js";
import { predicate, type Scope, scopeOf } from "./predicate.js";
import { outermostExists, type Probe, probe, probeMatched, seeksOf } from "./probe.js";
import { jsonObject, storedBytes } from "./wire.js";

/** Values by column; what they are may be given later. */
export type Values = ReadonlyMap<Column, Param>;

/** What the caller gets to see of a row that was written: `full` where the rule admits it, else `minimal`. */
export interface Returned {
  readonly rule: Expression;
  readonly full: readonly Column[];
  readonly minimal: readonly Column[];
}

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
  const scope = scopeOf(catalog.tables.get(table.name));
  const t = (column: string) => name(column as Column["name"]);
  const inner: Scope = { ...scope, row: (column) => sql`_t.${t(column)}` };
  const probes = nodes.map((node) => probe(node, inner, catalog));
  const outer: Scope = {
    ...scope,
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
  const next: Scope["next"] = (column) => collated(sql`_n.${name(column)}`, column, physical);
  const guard = guardOf([{ terms: [rule], scope: { ...scopeOf(physical), next } }], catalog);
  // A rule that reads no column still guards the statement; one column is enough to insert by.
  if (columns.length === 0) columns.push([...table.columns.values()][0]!);
  const sources = columns.map((column) => sql`${given(column, values)} AS ${name(column.name)}`);
  const names = commaList(columns.map((column) => name(column.name)));
  const row = sql`WITH _n AS MATERIALIZED (SELECT ${commaList(sources)})`;
  const probes = guard.measured(row, sql`_n`);
  return {
    statement: sql`${row} INSERT OR ABORT INTO ${target} (${names}) SELECT ${names} FROM _n WHERE ${guard.condition} RETURNING ${returning.row} AS row`,
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
  const scope = { ...scopeOf(physical), old: stored, next };
  const guard = guardOf(
    alwaysTrue(rule)
      ? []
      : [
          { terms: [rule], scope: { ...scope, row: stored, isSaid: isSaid("new") } },
          // Terms that the patch does not change are as TRUE for the row after as for the row before.
          {
            terms: conjuncts(rule).filter(changes),
            scope: { ...scope, row: next, isSaid: isSaid("row") },
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
  const row: Scope["row"] = (column) => sql`${target}.${name(column)}`;
  const scope: Scope = { ...scopeOf(catalog.tables.get(table.name)), row };
  const guard = guardOf(alwaysTrue(rule) ? [] : [{ terms: [rule], scope }], catalog);
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

interface Guard {
  readonly condition: Sql;
  readonly exact: boolean;
  readonly seeks: readonly Seek[];
  /** What the probes visit, of the row of a source; null where there are none. */
  measured(ctes: Sql, source: Sql, where?: Sql): Sql | null;
}

/** Terms that all have to be TRUE, and what their names stand for. */
interface GuardPart {
  readonly terms: readonly Expression[];
  readonly scope: Scope;
  /** Whether an `exists` is asked once more, where an earlier part has asked it already. All are by default. */
  readonly asksAgain?: (exists: Exists) => boolean;
}

/** Every probe is evaluated once, whatever the others say, so that what they visit can be told. */
function guardOf(parts: readonly GuardPart[], catalog: Catalog): Guard {
  const probes: Probe[] = [];
  const asked = new Map<Exists, number>();
  const terms = parts.flatMap(({ terms, scope, asksAgain = () => true }) => {
    for (const node of terms.flatMap(outermostExists))
      if (!asked.has(node) || asksAgain(node)) asked.set(node, probes.push(probe(node, scope, catalog)) - 1);
    const exists: Scope["exists"] = (node) => probeMatched(sql`_g.${probeName(asked.get(node)!)}`);
    return terms.map((term) => predicate(term, { ...scope, exists }));
  });
  if (probes.length === 0) return { condition: and(terms), exact: true, seeks: [], measured: () => null };
  const values = commaList(probes.map(({ value }, i) => sql`${value} AS ${probeName(i)}`));
  const visits = sum(probes.map((_, i) => sql`(_g.${probeName(i)} IS NOT NULL)`));
  return {
    // Neither LIMIT nor WHERE could be left out: they keep SQLite from evaluating a probe where it is used.
    condition: sql`EXISTS (SELECT 1 FROM (SELECT ${values} LIMIT 1) AS _g WHERE ${and(terms)})`,
    exact: probes.every(({ exact }) => exact),
    seeks: seeksOf(probes),
    measured: (ctes, source, where = sql`1`) =>
      sql`${ctes} SELECT ${visits} AS probed FROM (SELECT ${values} FROM ${source} WHERE ${where} LIMIT 1) AS _g`,
  };
}

function keySeek(alias: string, { primaryKey }: Table): Seek {
  return { alias, columns: primaryKey };
}

function keyIs(table: Table, key: Values, alias: Sql, catalog: Catalog): Sql {
  const physical = catalog.tables.get(table.name);
  return [...key.keys()].some((column) => holdsEither(column, physical))
    ? keyIsShown(table, key, alias, physical)
    : and([...key].map(([column, value]) => sql`${alias}.${name(column.name)} = ${param(value)}`));
}

/** Whether a text and the number that is shown as it are two values of a column. */
function holdsEither({ name: column }: Column, physical: CatalogTable | undefined): boolean {
  const stored = physical?.mixedTexts.get(column);
  return stored !== undefined && !makesNumbers(stored);
}

/**
 * One row at most: that of the text, else that of the number that is shown as this text. They are looked up in this order,
 * which CROSS JOIN keeps, and the first one ends it.
 */
function keyIsShown(table: Table, key: Values, alias: Sql, physical: CatalogTable | undefined): Sql {
  const columns = [...key].map(([column, value], i) => {
    const stored = sql`_k.${name(column.name)}`;
    if (!holdsEither(column, physical)) return { from: [], terms: [sql`${stored} = ${param(value)}`] };
    const text = param(value);
    const number = sql`CAST(${text} AS NUMERIC)`;
    const either = internalName("k", i);
    return {
      from: [
        sql`(VALUES (${text}), (CASE WHEN ${text} IN (CAST(${number} AS TEXT), CAST(CAST(${text} AS REAL) AS TEXT)) THEN ${number} END)) AS ${either}`,
      ],
      terms: [sql`${stored} = ${either}.column1`, sql`CAST(${stored} AS TEXT) = ${text}`],
    };
  });
  const from = join(
    [...columns.flatMap((each) => each.from), sql`${name(table.name)} AS _k`],
    sql` CROSS JOIN `,
  );
  const where = and(columns.flatMap(({ terms }) => terms));
  const names = (of: Sql) => commaList([...key.keys()].map((column) => sql`${of}.${name(column.name)}`));
  return sql`(${names(alias)}) = (SELECT ${names(sql`_k`)} FROM ${from} WHERE ${where} LIMIT 1)`;
}

interface Returning {
  readonly row: Sql;
  readonly exact: boolean;
  readonly seeks: readonly Seek[];
}

/** Fails, and so writes nothing, where a default has made a part of the key NULL, by which nobody could reach the row. */
function withKey(table: Table, values: Values, returning: Returning, catalog: Catalog): Returning {
  // A key of a STRICT table is never NULL.
  if (table.strict) return returning;
  const rowid = catalog.tables.get(table.name)?.rowid;
  const uncertain = keyOf(table).filter(
    (column) =>
      !values.has(column) && !column.notNull && column.name !== rowid && column.default?.kind === "sql",
  );
  if (uncertain.length === 0) return returning;
  const unset = or(uncertain.map((column) => sql`${name(table.name)}.${name(column.name)} IS NULL`));
  // An empty text is no JSON, which is an error in every build of SQLite.
  return { ...returning, row: sql`CASE WHEN ${unset} THEN json('') ELSE ${returning.row} END` };
}

function returningOf(table: Table, { rule, full, minimal }: Returned, catalog: Catalog): Returning {
  const refer = ({ name: column }: Column) => sql`${name(table.name)}.${name(column)}`;
  const key = jsonObject(keyOf(table), refer, catalog.tables.get(table.name));
  const object = (columns: readonly Column[]) => jsonWithin(catalog, table, columns, refer, key);
  if (alwaysTrue(rule)) return { row: sql`${object(full)}`, exact: true, seeks: [] };
  if (neverTrue(rule)) return { row: sql`${object(minimal)}`, exact: true, seeks: [] };
  const row: Scope["row"] = (column) => sql`${name(table.name)}.${name(column)}`;
  const nodes = outermostExists(rule);
  const scope: Scope = { ...scopeOf(catalog.tables.get(table.name)), row };
  const probes = nodes.map((node) => probe(node, scope, catalog));
  const exists: Scope["exists"] = (node) => probeMatched(sql`_r.${probeName(nodes.indexOf(node))}`);
  const admitted = predicate(rule, { ...scope, exists });
  const shown = sql`CASE WHEN ${admitted} THEN ${object(full)} ELSE ${object(minimal)} END`;
  if (nodes.length === 0) return { row: sql`${shown}`, exact: true, seeks: [] };
  const values = probes.map(({ value }, i) => sql`${value} AS ${probeName(i)}`);
  const visits = sum(probes.map((_, i) => sql`(_r.${probeName(i)} IS NOT NULL)`));
  return {
    row: sql`(SELECT (${visits}) || ${shown} FROM (SELECT ${commaList(values)} LIMIT 1) AS _r WHERE 1)`,
    exact: probes.every((each) => each.exact),
    seeks: seeksOf(probes),
  };
}

/** The JSON of a row that was written, and what the read rule's probes visited. */
export function returnedRow(text: string): { readonly json: string; readonly probed: number } {
  const begin = text.indexOf("{");
  return { json: text.slice(begin), probed: Number(text.slice(0, begin)) };
}

/** A row as JSON, or something else where it is larger than an answer can be. */
function jsonWithin(
  { answerBytesMax, tables }: Catalog,
  table: Table,
  columns: readonly Column[],
  refer: (column: Column) => Sql,
  otherwise: Sql,
): Sql {
  const bytes = storedBytes(columns, refer);
  const row = jsonObject(columns, refer, tables.get(table.name));
  if (bytes.text === "0") return row;
  return sql`CASE WHEN ${bytes} <= ${integer(answerBytesMax)} THEN ${row} ELSE ${otherwise} END`;
}

function keyOf(table: Table): readonly Column[] {
  return table.primaryKey.map((column) => table.columns.get(column)!);
}

const probeName = (i: number): Sql => internalName("p", i);
