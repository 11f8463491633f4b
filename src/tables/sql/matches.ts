import type { Table } from "../../project/model.js";
import { searchNames } from "../../schema/search-index.js";
import { systemColumnName } from "../../sqlite/names.js";
import type { ListPlan } from "../list/list-plan.js";
import { type Match, matchSlot } from "../list/match.js";
import { rank } from "../list/order.js";
import { type CandidateSource, concatenated, distinct, limitOf, shownColumn } from "./candidates.js";
import {
  and,
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
} from "./fragment.js";
import type { Gate } from "./gate.js";
import { columnsOfAlias } from "./place.js";

/**
 * Up to how many rows that match the search are all looked up, even where the list's rows could be narrowed down in
 * another way.
 */
const fewMatches = 1_000;

/**
 * The candidates of a list that a full-text search finds (docs/reference/http.md#search). The common table expression
 * `_matches` holds the keys of the rows that match, with the rank that the list is ordered by. Where there are more
 * than the scan limit it holds some more than the limit, and not all: no page is read then. `among` has the rows that
 * an index or ways lead to, null for all rows. Where many rows match, these are found first (`_own`), and matches
 * outside of them are passed over in the index of words.
 */
export function matchSource(
  plan: ListPlan,
  match: Match,
  gate: Gate,
  among: CandidateSource | null,
): CandidateSource {
  const { table, catalog, scanLimit } = plan;
  const isRow = rowIs(plan);
  const m = columnsOfAlias(sql`_m`);
  const t = columnsOfAlias(sql`_t`);
  const shown = (column: Sql) =>
    column.text === name(rank).text
      ? sql`_m.${column} AS ${column}`
      : shownColumn(catalog, table, sql`_t`, column);
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
    inAnyOrder: (columns, more, limit) => {
      const list = [...distinct(columns).map(shown), ...more];
      return sql`SELECT ${list.length === 0 ? sql`1` : commaList(list)} FROM _matches AS _m CROSS JOIN ${name(table.name)} AS _t${tableHint(match)} WHERE ${isRow(sql`_t`, keys)}${limitOf(limit)}`;
    },
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
      // With `among`, the alias `_t` names the table in two places of the statement, and only in one of them rows are
      // found by their keys.
      { alias: "_t", columns: among === null ? table.primaryKey : [] },
      { alias: "_s", columns: table.primaryKey },
      { alias: "_d", columns: ["doc"] },
      { alias: "_dk", columns: table.primaryKey.map((_, i) => keyColumn(i)) },
    ],
  };
}

/** The columns of `_matches` that hold the key of a row. */
const keysOf = ({ primaryKey }: Table) => primaryKey.map((_, i) => internalName("k", i));
/** A column of the table of keys, which numbers the rows for the full-text index (`SearchNames`). */
const keyColumn = (i: number) => systemColumnName(`k${i}`);
const tableHint = ({ by }: Match) => (by === "rowid" ? sql` NOT INDEXED` : empty);

/** Makes a function that gives the condition that the row of an alias has the values of a key. */
function rowIs({ table, catalog }: ListPlan): (alias: Sql, key: readonly Sql[]) => Sql {
  const collations = catalog.tables.get(table.name)?.collations;
  return (alias, key) =>
    and(
      table.primaryKey.flatMap((column, i) => {
        const equal = sql`${alias}.${name(column)} = ${key[i]!}`;
        // Both are needed: the first one lets SQLite use an index in the column's collation, and the second one is
        // exact.
        return collations?.has(column) ? [equal, sql`${equal} COLLATE BINARY`] : [equal];
      }),
    );
}

/** The condition that a document of the full-text index, `_f`, matches in a column, or in all of them together. */
function isMatch({ table }: ListPlan, column: number | "all"): Sql {
  return sql`_f.${physicalName(searchNames(table.name).words)} MATCH ${param(new Slot(matchSlot(column)))}`;
}

const isFew = sql`(SELECT few FROM _few)`;
const fewOf = ({ scanLimit }: ListPlan) => Math.min(fewMatches, scanLimit);
/** The LIMIT of what is read only where many rows match: 0 where few do. */
const whereMany = ({ scanLimit }: ListPlan) =>
  sql`CASE WHEN ${isFew} THEN 0 ELSE ${integer(scanLimit + 1)} END`;

/**
 * The common table expressions for looking for a search's rows among others: whether few rows match (`_few`), else the
 * keys of the other rows (`_own`), and their documents (`_docs`).
 */
function ownRows(plan: ListPlan, { by }: Match, gate: Gate, among: CandidateSource): readonly Sql[] {
  const { table } = plan;
  const { words, keys } = searchNames(table.name);
  const few = integer(fewOf(plan) + 1);
  const found = sql`SELECT 1 FROM ${physicalName(words)} AS _f WHERE ${isMatch(plan, "all")} LIMIT ${gate.limited(few)}`;
  const own = among.inAnyOrder(table.primaryKey.map(name), [], among.gate.limited(whereMany(plan)));
  const isIt = and(table.primaryKey.map((column, i) => sql`_dk.${name(keyColumn(i))} = _o.${name(column)}`));
  const docs =
    by === "rowid"
      ? sql`SELECT ${name(table.primaryKey[0]!)} AS doc FROM _own`
      : sql`SELECT _dk.doc AS doc FROM _own AS _o CROSS JOIN ${physicalName(keys)} AS _dk WHERE ${isIt}`;
  return [
    sql`_few AS MATERIALIZED (SELECT count(*) < ${few} AS few FROM (${found}))`,
    sql`_own AS MATERIALIZED (${own})`,
    sql`_docs AS MATERIALIZED (${docs})`,
  ];
}

/** A SELECT of the keys of the rows that match a search, each once, with its rank. */
function matches(plan: ListPlan, match: Match, gate: Gate, among: CandidateSource | null): Sql {
  const { table, scanLimit } = plan;
  const { words, keys } = searchNames(table.name);
  const key = keysOf(table);
  const isByRowid = match.by === "rowid";
  const found = isByRowid ? [sql`_f.rowid`] : key.map((_, i) => sql`_d.${name(keyColumn(i))}`);
  const linked = isByRowid ? [] : [sql`_d.doc = _f.rowid`];
  const from = sql`${physicalName(words)} AS _f${isByRowid ? empty : sql` CROSS JOIN ${physicalName(keys)} AS _d NOT INDEXED`}`;
  const ranked = (at: number) =>
    commaList([
      ...found.map((value, i) => sql`${value} AS ${key[i]!}`),
      sql`${integer(at)} AS ${name(rank)}`,
    ]);
  const oneMore = integer(scanLimit + 1);
  const limit = among === null ? oneMore : sql`CASE WHEN ${isFew} THEN ${oneMore} ELSE 0 END`;
  // The row itself is joined, because the index may still have words of a row that was replaced without a trigger: such
  // a row must not be counted.
  const anywhere = (column: number | "all", at: number) =>
    sql`SELECT ${ranked(at)} FROM ${from} CROSS JOIN ${name(table.name)} AS _s${tableHint(match)} WHERE ${and([isMatch(plan, column), ...linked, rowIs(plan)(sql`_s`, found)])} LIMIT ${gate.limited(limit)}`;
  // The plus keeps FTS5 from searching its matches anew for each document, which takes long for the beginning of a
  // word.
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
