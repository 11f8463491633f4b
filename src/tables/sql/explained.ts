import type { Column, Table } from "../../project/model.js";
import type { Expression } from "../../rules/ast.js";
import { alwaysTrue } from "../../rules/fold.js";
import { outermostExists } from "../../rules/walk.js";
import type { Catalog } from "../../schema/catalog.js";
import { shownColumn } from "./candidates.js";
import { and, chain, commaList, empty, integer, name, type Sql, sql } from "./fragment.js";
import { guardOf } from "./guard.js";
import { changedRow, newRow, storedRow } from "./judged-row.js";
import { namesOf, noNames, predicate, type SqlNames } from "./predicate.js";
import { areExact, probe, probeMatched } from "./probe.js";
import { getStatement } from "./row.js";
import { keyIs, type Values } from "./row-key.js";
import { jsonObject } from "./wire.js";

/** The row that a call would read or write, for SELECTs that explain what its rule says of it. */
export interface ExplainedRow {
  /**
   * What stands before and after the SELECT's list: `ctes` is `WITH …`, or empty; `from` is `FROM …`, which yields the
   * row (stored, or as a create would make it), or none. Both are empty for rules that name no row.
   */
  readonly ctes: Sql;
  readonly from: Sql;
  /** Whether the rule admits the row: the same condition as in the call's own statement. */
  readonly admitted: { readonly condition: Sql; readonly exact: boolean };
  /**
   * The SQL for the names in the rule. There are two sets where `row` is first the row before an update and then the
   * row after it.
   */
  readonly names: readonly SqlNames[];
  /** The SQL of a column of the row as it would be after the write. */
  readonly next: (column: Column) => Sql;
}

/** Used for rules that name no row: nothing to look at. */
export const withoutRow: ExplainedRow = {
  ctes: empty,
  from: empty,
  admitted: { condition: sql`1`, exact: true },
  names: [noNames],
  next: ({ name: column }) => name(column),
};

/** The row that a `GET` would read. The condition is the whole statement of the `GET`. */
export function rowRead(table: Table, key: Values, rule: Expression, catalog: Catalog): ExplainedRow {
  const { statement, exact } = getStatement(table, key, rule, [], catalog);
  const condition = sql`((SELECT admitted FROM (${statement})) = 1)`;
  return { ...stored(table, key, catalog), admitted: { condition, exact } };
}

/**
 * A SELECT of how many rows a `GET` looks up for the `exists` of its rule; it returns no row where none has the key.
 */
export function readLookups(table: Table, key: Values, rule: Expression, catalog: Catalog): Sql {
  return sql`SELECT probed FROM (${getStatement(table, key, rule, [], catalog).statement})`;
}

/** A stored row of the table, which the rule has to admit as it is. */
export function rowOfTable(table: Table, key: Values, rule: Expression, catalog: Catalog): ExplainedRow {
  const row = stored(table, key, catalog);
  const parts = alwaysTrue(rule) ? [] : [{ terms: [rule], names: row.names[0]! }];
  return { ...row, admitted: guardOf(parts, catalog) };
}

/** The row that an update would change, before and after it. */
export function rowUpdated(
  table: Table,
  key: Values,
  patch: Values,
  rule: Expression,
  catalog: Catalog,
): ExplainedRow {
  const { parts, before, after } = changedRow(table, patch, catalog);
  return {
    ...stored(table, key, catalog),
    admitted: guardOf(parts(rule), catalog),
    names: [before, after],
    next: ({ name: column }) => after.next(column),
  };
}

function stored(table: Table, key: Values, catalog: Catalog): Omit<ExplainedRow, "admitted"> {
  const target = name(table.name);
  return {
    ctes: empty,
    from: sql` FROM ${target} WHERE ${keyIs(table, key, target, catalog)}`,
    names: [storedRow(table, catalog)],
    next: ({ name: column }) => sql`${target}.${name(column)}`,
  };
}

/** The row that a create would make, with all of its columns. */
export function rowCreated(table: Table, values: Values, rule: Expression, catalog: Catalog): ExplainedRow {
  const { cte, names } = newRow([...table.columns.values()], values, catalog.tables.get(table.name));
  return {
    ctes: sql`WITH ${cte} `,
    from: sql` FROM _n`,
    admitted: guardOf(alwaysTrue(rule) ? [] : [{ terms: [rule], names }], catalog),
    names: [names],
    next: ({ name: column }) => sql`_n.${name(column)}`,
  };
}

/** The SQL of a term of a rule, for an explanation. */
export interface TermSql {
  /** The SQL of the term's value: 1 where it is TRUE, 0 where it is FALSE, else NULL. */
  readonly value: Sql;
  /** Whether the term looks up a few rows at most, so that it takes hardly any time. */
  readonly isQuick: boolean;
}

/** Makes the SQL of a term of a rule in which `auth` and `now()` have been replaced by values. */
export function termSql(term: Expression, names: SqlNames, catalog: Catalog): TermSql {
  const nodes = outermostExists(term);
  const probes = nodes.map((node) => probe(node, names, catalog));
  const exists: SqlNames["exists"] = (node) => probeMatched(probes[nodes.indexOf(node)]!.value);
  return { value: predicate(term, { ...names, exists }), isQuick: areExact(probes) };
}

/**
 * A SELECT that explains what a rule says of a row, with one row, or none where there is no row to test: `[admitted,
 * terms, shown]`. `admitted` is 1 where the rule admits the row, NULL where that is not asked. `terms` has a digit for
 * each term: 1 for TRUE, 0 for FALSE, 2 for NULL. `shown` is JSON of the columns as they would be after the write.
 */
export function explainStatement(
  { ctes, from, admitted, next }: ExplainedRow,
  asksRule: boolean,
  terms: readonly Sql[],
  shown: readonly Column[],
  physical: Parameters<typeof jsonObject>[2],
): Sql {
  const judged = asksRule ? sql`CASE WHEN ${admitted.condition} THEN 1 ELSE 0 END` : sql`NULL`;
  // The digits are joined to one text, because D1 allows neither many columns nor many arguments of a function.
  const digits = terms.map((value) => sql`ifnull(${value}, 2)`);
  const all = digits.length === 0 ? sql`''` : chain([sql`''`, ...digits], sql` || `);
  const row = shown.length === 0 ? sql`'{}'` : jsonObject(shown, next, physical);
  return sql`${ctes}SELECT ${judged} AS admitted, ${all} AS terms, ${row} AS shown${from}`;
}

/** The SQL for the names in the terms whose rows `countStatement` counts. */
export function countedNames(table: Table, catalog: Catalog): SqlNames {
  return { ...namesOf(catalog.tables.get(table.name)), row: (column) => sql`_w.${name(column)}` };
}

/**
 * A SELECT that counts, among rows of a table that pass conditions (`limit` at most), for how many each term is TRUE.
 * It returns one row, `[rows, counts]`. `counts` is a text with two numbers for each term, of how many rows it is TRUE
 * and of how many FALSE, each with a comma behind it.
 */
export function countStatement(
  table: Table,
  filters: readonly Expression[],
  terms: readonly Sql[],
  limit: number,
  catalog: Catalog,
): Sql {
  const t = sql`_t`;
  const names: SqlNames = { ...noNames, row: (column) => sql`${t}.${name(column)}` };
  const columns = [...table.columns.keys()].map((column) =>
    shownColumn(catalog, table, t, name(column as Column["name"])),
  );
  const rows = sql`SELECT ${commaList(columns)} FROM ${name(table.name)} AS ${t} WHERE ${and(filters.map((each) => predicate(each, names)))} LIMIT ${integer(limit)}`;
  const count = (condition: Sql) => sql`ifnull(sum(${condition}), 0) || ','`;
  const counts = terms.flatMap((term) => [count(sql`(${term}) IS TRUE`), count(sql`(${term}) IS FALSE`)]);
  const all = counts.length === 0 ? sql`''` : chain(counts, sql` || `);
  return sql`SELECT count(*) AS rows, ${all} AS counts FROM (${rows}) AS _w`;
}
