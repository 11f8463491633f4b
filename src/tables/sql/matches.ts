import type { Table } from "../../project/model.js";
import { searchNames } from "../../schema/physical/search-index.js";
import { systemColumnName } from "../../sqlite/names.js";
import type { ListPlan } from "../plan/list-plan.js";
import { type Match, matchSlot } from "../plan/match.js";
import { rank } from "../plan/order.js";
import {
  and,
  carried,
  commaList,
  empty,
  integer,
  internalName,
  name,
  param,
  physicalName,
  Slot,
  type Sql,
  sql,
  sum,
} from "../sql-text/fragment.js";
import { type CandidateSource, concatenated, limitOf, selected, selectList } from "./candidates.js";
import type { Gate } from "./gate.js";
import { columnsOfAlias, columnsOfTable } from "./place.js";
import { shortRows } from "./wide-values.js";

/**
 * Up to how many rows that match a full-text search are all looked up. Only where more match, an index or ways narrow
 * the rows down first.
 */
const fewMatches = 1_000;

/**
 * Makes the source of candidates for a list with a full-text search (docs/reference/http.md#search). The common table
 * expression `_matches` holds the keys of the rows that match, with their rank, which orders the list if `match.ranks`
 * is true and is 0 for all rows otherwise. Where more rows match than the scan limit allows, `_matches` holds some more
 * than the limit, but not all: no page is read then.
 *
 * `among` is the source of the rows that an index or ways lead to, or null where these are all rows. Where many rows
 * match, the rows of `among` are found first (`_own`), and other matches are passed over in the full-text index.
 */
export function matchSource(plan: ListPlan, match: Match, gate: Gate, among: CandidateSource | null): CandidateSource {
  const { table, scanLimit } = plan;
  const isRow = rowIs(plan);
  const m = columnsOfAlias(sql`_m`);
  const t = columnsOfTable(sql`_t`);
  const shown = (column: Sql) =>
    column.text === name(rank).text ? sql`_m.${column} AS ${column}` : selected(plan, sql`_t`, column);
  const keys = keysOf(table).map((column) => sql`_m.${column}`);
  return {
    gate: {
      ...gate,
      ctes: [
        ...(among?.gate ?? gate).ctes,
        ...(among === null ? [] : ownRows(plan, match, gate, among)),
        sql`_matches AS MATERIALIZED (${matches(plan, match, gate, among)})`,
      ],
    },
    inAnyOrder: (columns, more, limit) =>
      sql`SELECT ${selectList(plan, columns, more, shown)} FROM _matches AS _m CROSS JOIN ${name(table.name)} AS _t${tableHint(match)} WHERE ${and([isRow(sql`_t`, keys), ...shortRows(plan, sql`_t`, columns)])}${limitOf(limit)}`,
    inOrder: () => {
      throw new Error("what a search finds has no order of its own");
    },
    ways: among && {
      links: sum([sql`(SELECT count(*) FROM _own)`, ...(among.ways === null ? [] : [among.ways.links])]),
      left: integer(scanLimit),
      isFirst: null,
    },
    refer: (column) => (column.name === rank ? m(column) : t(column)),
    exact: among?.exact ?? true,
    seeks: [
      ...(among?.seeks ?? []).filter(({ alias }) => alias !== "_t"),
      // With `among`, the statement names the table `_t` in two places, and only in one of them finds the rows by their
      // keys. So no columns are named here that a search by SQLite would have to compare.
      { alias: "_t", columns: among === null ? table.primaryKey : [] },
      { alias: "_s", columns: table.primaryKey },
      { alias: "_d", columns: ["doc"] },
      { alias: "_dk", columns: table.primaryKey.map((_, i) => keyColumn(i)) },
    ],
  };
}

/** Returns the columns of `_matches` that hold the primary key of a row that matches. */
const keysOf = ({ primaryKey }: Table) => primaryKey.map((_, i) => internalName("k", i));
/** Names a column of `SearchNames.keys`, which numbers rows for the full-text index: the i-th of a row's key. */
const keyColumn = (i: number) => systemColumnName(`k${i}`);
const tableHint = ({ by }: Match) => (by === "rowid" ? sql` NOT INDEXED` : empty);

/** Makes a function that gives the condition that the row of an alias has these values in its primary key. */
function rowIs({ table, catalog }: ListPlan): (alias: Sql, key: readonly Sql[]) => Sql {
  const collations = catalog.tables.get(table.name)?.collations;
  return (alias, key) =>
    and(
      table.primaryKey.flatMap((column, i) => {
        const equal = sql`${alias}.${name(column)} = ${key[i]!}`;
        // Both comparisons are needed: the first one lets SQLite use an index in the column's collation, and the second
        // one keeps out values that are equal only in that collation.
        return collations?.has(column) ? [equal, sql`${equal} COLLATE BINARY`] : [equal];
      }),
    );
}

/**
 * Makes the condition that a document (the searched texts of a row) in the full-text index `_f` matches the search: in
 * one column, which is given by its position in the index, or in all columns together.
 */
function isMatch({ table }: ListPlan, column: number | "all"): Sql {
  return sql`_f.${physicalName(searchNames(table.name).words)} MATCH ${param(new Slot(matchSlot(column)))}`;
}

const isFew = sql`(SELECT few FROM _few)`;
const fewOf = ({ scanLimit }: ListPlan) => Math.min(fewMatches, scanLimit);
/** Makes the LIMIT for what is read only where many rows match the search: 0 where few rows match. */
const whereMany = ({ scanLimit }: ListPlan) => sql`CASE WHEN ${isFew} THEN 0 ELSE ${integer(scanLimit + 1)} END`;

/**
 * Makes the common table expressions that look for a search's matches among the rows of `among`: `_few`, whether few
 * rows match; `_own`, where many match, the keys of the rows of `among`; and `_docs`, the numbers of these rows in the
 * full-text index.
 */
function ownRows(plan: ListPlan, { by }: Match, gate: Gate, among: CandidateSource): readonly Sql[] {
  const { table } = plan;
  const { words, keys } = searchNames(table.name);
  const few = integer(fewOf(plan) + 1);
  const found = sql`SELECT 1 FROM ${physicalName(words)} AS _f WHERE ${isMatch(plan, "all")} LIMIT ${gate.limited(few)}`;
  const own = among.inAnyOrder(table.primaryKey.map(carried), [], among.gate.limited(whereMany(plan)));
  const isIt = and(table.primaryKey.map((column, i) => sql`_dk.${name(keyColumn(i))} = _o.${carried(column)}`));
  const docs =
    by === "rowid"
      ? sql`SELECT ${carried(table.primaryKey[0]!)} AS doc FROM _own`
      : sql`SELECT _dk.doc AS doc FROM _own AS _o CROSS JOIN ${physicalName(keys)} AS _dk WHERE ${isIt}`;
  return [
    sql`_few AS MATERIALIZED (SELECT count(*) < ${few} AS few FROM (${found}))`,
    sql`_own AS MATERIALIZED (${own})`,
    sql`_docs AS MATERIALIZED (${docs})`,
  ];
}

/** Makes a SELECT of the keys of the rows that match a full-text search, each row once, with its rank. */
function matches(plan: ListPlan, match: Match, gate: Gate, among: CandidateSource | null): Sql {
  const { table, scanLimit } = plan;
  const { words, keys } = searchNames(table.name);
  const key = keysOf(table);
  const isByRowid = match.by === "rowid";
  const found = isByRowid ? [sql`_f.rowid`] : key.map((_, i) => sql`_d.${name(keyColumn(i))}`);
  const linked = isByRowid ? [] : [sql`_d.doc = _f.rowid`];
  const from = sql`${physicalName(words)} AS _f${isByRowid ? empty : sql` CROSS JOIN ${physicalName(keys)} AS _d NOT INDEXED`}`;
  const ranked = (at: number) =>
    commaList([...found.map((value, i) => sql`${value} AS ${key[i]!}`), sql`${integer(at)} AS ${name(rank)}`]);
  const oneMore = integer(scanLimit + 1);
  const limit = among === null ? oneMore : sql`CASE WHEN ${isFew} THEN ${oneMore} ELSE 0 END`;
  // The row itself is joined, because the index may still have the words of a row that is gone: REPLACE can delete a
  // row without running its triggers. Such a row must not be counted.
  const anywhere = (column: number | "all", at: number) =>
    sql`SELECT ${ranked(at)} FROM ${from} CROSS JOIN ${name(table.name)} AS _s${tableHint(match)} WHERE ${and([isMatch(plan, column), ...linked, rowIs(plan)(sql`_s`, found)])} LIMIT ${gate.limited(limit)}`;
  // The unary plus keeps FTS5 from searching the matches anew for each document of `_docs`, which takes long where the
  // search is for the beginning of a word.
  const amongOwn = (column: number | "all", at: number) =>
    sql`SELECT ${ranked(at)} FROM ${from} WHERE ${and([isMatch(plan, column), sql`+_f.rowid IN (SELECT doc FROM _docs)`, ...linked])} LIMIT ${gate.limited(whereMany(plan))}`;
  const searched = match.ranks ? [...match.columns, "all" as const] : ["all" as const];
  const selects = searched.flatMap((column, at) =>
    among === null ? [anywhere(column, at)] : [anywhere(column, at), amongOwn(column, at)],
  );
  return match.ranks
    ? sql`SELECT ${commaList(key)}, min(${name(rank)}) AS ${name(rank)} FROM (${concatenated(selects, sql`LIMIT -1`)}) GROUP BY ${commaList(key)}`
    : concatenated(selects, empty);
}
