import type { Column, Table } from "../../project/model.js";
import type { Expression } from "../../rules/ast.js";
import { outermostExists } from "../../rules/walk.js";
import type { Catalog } from "../../schema/catalog.js";
import { and, carried, chain, commaList, empty, integer, name, type Sql, sql } from "../sql-text/fragment.js";
import { shownColumn } from "./candidates.js";
import { guardOf, partsOf } from "./guard.js";
import { changedRow, newRow, storedRow } from "./judged-row.js";
import { namesOf, noNames, predicate, type SqlNames } from "./predicate.js";
import { areExact, probe, probeMatched } from "./probe.js";
import { getStatement } from "./row.js";
import { rowWith, type Values } from "./row-key.js";
import { jsonObject } from "./wire.js";

/** The row that a call would read or write, as SQL for statements that say what the rule makes of it. */
export interface ExplainedRow {
  /**
   * What stands before the SELECT of an explanation and after its list of columns. `ctes` is `WITH …`, or empty. `from`
   * is `FROM …` and yields the row, stored or as a create would make it, or none if there is no such row. Both are
   * empty for rules that name no row.
   */
  readonly ctes: Sql;
  readonly from: Sql;
  /**
   * The condition that the rule admits the row. It is the same SQL as in the statement of the call that is explained.
   * `exact`: each `exists` of the rule looks up one row at most, by an index.
   */
  readonly admitted: { readonly condition: Sql; readonly exact: boolean };
  /**
   * The SQL for the names in the rule. For an update there are two sets, because its rule is tested twice: with `row`
   * as the row before the update, and as the row after it.
   */
  readonly names: readonly SqlNames[];
  /** The SQL of a column's value as it would be after the write, or as it is stored where nothing sets it. */
  readonly next: (column: Column) => Sql;
}

/**
 * The ExplainedRow for terms of a rule that name no row: none is looked up. Its `admitted` says nothing about the rule,
 * so it goes with an `asksRule` of false.
 */
export const withoutRow: ExplainedRow = {
  ctes: empty,
  from: empty,
  admitted: { condition: sql`1`, exact: true },
  names: [noNames],
  next: ({ name: column }) => name(column),
};

/** The stored row that a `GET` would read. Whether the rule admits it is asked by the `GET`'s own statement. */
export function rowRead(table: Table, key: Values, rule: Expression, catalog: Catalog): ExplainedRow {
  const { statement, exact } = getStatement(table, key, rule, [], catalog);
  const condition = sql`((SELECT admitted FROM (${statement})) = 1)`;
  return { ...stored(table, key, catalog), admitted: { condition, exact } };
}

/**
 * Makes a SELECT of one number: how many rows a `GET` looks up for the `exists` of its read rule. The SELECT returns no
 * row where no row has the key.
 */
export function readLookups(table: Table, key: Values, rule: Expression, catalog: Catalog): Sql {
  return sql`SELECT probed FROM (${getStatement(table, key, rule, [], catalog).statement})`;
}

/** A stored row that the rule has to admit as it is, such as the one that a delete would remove. */
export function rowOfTable(table: Table, key: Values, rule: Expression, catalog: Catalog): ExplainedRow {
  const row = stored(table, key, catalog);
  return { ...row, admitted: guardOf(partsOf(rule, row.names[0]!), catalog) };
}

/** The stored row that an update with the values of `patch` would change, as it is before and after it. */
export function rowUpdated(table: Table, key: Values, patch: Values, rule: Expression, catalog: Catalog): ExplainedRow {
  const { parts, before, after } = changedRow(table, patch, catalog);
  return {
    ...stored(table, key, catalog),
    admitted: guardOf(parts(rule), catalog),
    names: [before, after],
    next: ({ name: column }) => after.next(column),
  };
}

function stored(table: Table, key: Values, catalog: Catalog): Omit<ExplainedRow, "admitted"> {
  return {
    ctes: empty,
    from: sql` ${rowWith(table, key, catalog)}`,
    names: [storedRow(table, catalog)],
    next: ({ name: column }) => sql`${name(table.name)}.${name(column)}`,
  };
}

/** The row that a create would make, with all its columns: those without a value get their default. */
export function rowCreated(table: Table, values: Values, rule: Expression, catalog: Catalog): ExplainedRow {
  const { cte, names } = newRow([...table.columns.values()], values, catalog.tables.get(table.name));
  return {
    ctes: sql`WITH ${cte} `,
    from: sql` FROM _n`,
    admitted: guardOf(partsOf(rule, names), catalog),
    names: [names],
    next: ({ name: column }) => sql`_n.${carried(column)}`,
  };
}

/** The SQL of one term of a rule (one of the conditions that it is made of), for an explanation of the rule. */
export interface TermSql {
  /** The SQL of the term's value: 1 where the term is TRUE for the row, 0 where it is FALSE, else NULL. */
  readonly value: Sql;
  /** Whether each `exists` of the term looks up one row at most, by an index, and so takes hardly any time. */
  readonly isQuick: boolean;
}

/** Makes the SQL of one term of a rule. In the term, `auth` and `now()` have been replaced by values before. */
export function termSql(term: Expression, names: SqlNames, catalog: Catalog): TermSql {
  const nodes = outermostExists(term);
  const probes = nodes.map((node) => probe(node, names, catalog));
  const exists: SqlNames["exists"] = (node) => probeMatched(probes[nodes.indexOf(node)]!.value);
  return { value: predicate(term, { ...names, exists }), isQuick: areExact(probes) };
}

/**
 * Makes a SELECT that explains what a rule says of a row. It returns one row `[admitted, terms, shown]`, or none where
 * there is no row to test. `admitted` is 1 where the rule admits the row and else 0, or NULL where `asksRule` is false.
 * `terms` is a text with a digit for each of the given terms: 1 for TRUE, 0 for FALSE, 2 for NULL. `shown` is the JSON
 * of the columns `shown`, with their values from `next` of the row.
 */
export function explainStatement(
  { ctes, from, admitted, next }: ExplainedRow,
  asksRule: boolean,
  terms: readonly Sql[],
  shown: readonly Column[],
  physical: Parameters<typeof jsonObject>[2],
): Sql {
  const judged = asksRule ? sql`CASE WHEN ${admitted.condition} THEN 1 ELSE 0 END` : sql`NULL`;
  // The digits of all terms are joined into one text, because D1 allows neither many columns of a result nor many
  // arguments of a function.
  const digits = terms.map((value) => sql`ifnull(${value}, 2)`);
  const all = digits.length === 0 ? sql`''` : chain([sql`''`, ...digits], sql` || `);
  const row = shown.length === 0 ? sql`'{}'` : jsonObject(shown, next, physical);
  return sql`${ctes}SELECT ${judged} AS admitted, ${all} AS terms, ${row} AS shown${from}`;
}

/** Names in terms that `countStatement` counts: `row` is each of the rows that it selects as `_w`. */
export function countedNames(table: Table, catalog: Catalog): SqlNames {
  return { ...namesOf(catalog.tables.get(table.name)), row: (column) => sql`_w.${carried(column)}` };
}

/**
 * Makes a SELECT that takes rows of a table that pass `filters`, at most `limit`, and counts for how many of them each
 * term is TRUE, and FALSE. It returns one row, `[rows, counts]`: how many rows were taken, and a text with two numbers
 * for each term, first of the rows for which it is TRUE, then of those for which it is FALSE. A comma follows each
 * number.
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
    shownColumn(catalog, table, t, carried(column as Column["name"])),
  );
  const rows = sql`SELECT ${commaList(columns)} FROM ${name(table.name)} AS ${t} WHERE ${and(filters.map((each) => predicate(each, names)))} LIMIT ${integer(limit)}`;
  const count = (condition: Sql) => sql`ifnull(sum(${condition}), 0) || ','`;
  const counts = terms.flatMap((term) => [count(sql`(${term}) IS TRUE`), count(sql`(${term}) IS FALSE`)]);
  const all = counts.length === 0 ? sql`''` : chain(counts, sql` || `);
  return sql`SELECT count(*) AS rows, ${all} AS counts FROM (${rows}) AS _w`;
}
