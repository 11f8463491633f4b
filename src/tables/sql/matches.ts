import { searchNames } from "../../schema/search-index.js";
import type { ListPlan } from "../list/list-plan.js";
import { type Match, matchSlot } from "../list/match.js";
import { rank } from "../list/order.js";
import { type CandidateSource, concatenated, distinct, limitOf, shownColumn } from "./candidates.js";
import {
  and,
  commaList,
  integer,
  internalName,
  name,
  param,
  physicalName,
  Slot,
  type Sql,
  sql,
} from "./fragment.js";
import type { Gate } from "./gate.js";
import { columnsOfAlias } from "./place.js";

/**
 * The candidates of a list that a full-text search finds (docs/reference/http.md#search). The common table expression
 * `_matches` holds the keys of the rows that match, with the rank that the list is ordered by. Where there are more than the
 * scan limit it holds some more than the limit, and not all: no page is read then.
 */
export function matchSource(plan: ListPlan, match: Match, gate: Gate): CandidateSource {
  const { table, catalog, scanLimit } = plan;
  const { words, keys } = searchNames(table.name);
  const key = table.primaryKey.map((_, i) => internalName("k", i));
  const collations = catalog.tables.get(table.name)?.collations;
  const isRow = (alias: Sql, of: readonly Sql[]) =>
    and(
      table.primaryKey.flatMap((column, i) => {
        const equal = sql`${alias}.${name(column)} = ${of[i]!}`;
        // The first of two is for an index in the column's collation.
        return collations?.has(column) ? [equal, sql`${equal} COLLATE BINARY`] : [equal];
      }),
    );
  const ofKeys = key.map((_, i) => ({ text: `_d.k${i}`, params: [] }));
  const [from, found] =
    match.by === "rowid"
      ? [sql``, [sql`_f.rowid`]]
      : [sql` CROSS JOIN ${physicalName(keys)} AS _d NOT INDEXED`, ofKeys];
  const hint = match.by === "rowid" ? sql` NOT INDEXED` : sql``;
  const linked = match.by === "rowid" ? [] : [sql`_d.doc = _f.rowid`];
  // Of a row that was replaced without a trigger the index may still have words: it is joined, so as not to be counted.
  const matching = (column: number | "all", at: number) =>
    sql`SELECT ${commaList([...found.map((value, i) => sql`${value} AS ${key[i]!}`), sql`${integer(at)} AS ${name(rank)}`])} FROM ${physicalName(words)} AS _f${from} CROSS JOIN ${name(table.name)} AS _s${hint} WHERE ${and([sql`_f.${physicalName(words)} MATCH ${param(new Slot(matchSlot(column)))}`, ...linked, isRow(sql`_s`, found)])} LIMIT ${gate.limited(integer(scanLimit + 1))}`;
  const columns = match.ranks ? match.columns : [];
  const all = [...columns.map(matching), matching("all", columns.length)];
  const best = match.ranks
    ? sql`SELECT ${commaList(key)}, min(${name(rank)}) AS ${name(rank)} FROM (${concatenated(all, sql`LIMIT -1`)}) GROUP BY ${commaList(key)}`
    : all[0]!;
  const m = columnsOfAlias(sql`_m`);
  const t = columnsOfAlias(sql`_t`);
  const candidates = (columns: readonly Sql[], more: readonly Sql[], limit: Sql | null) => {
    const shown = distinct(columns).map((column) =>
      column.text === name(rank).text
        ? sql`_m.${column} AS ${column}`
        : shownColumn(catalog, table, sql`_t`, column),
    );
    const list = [...shown, ...more];
    return sql`SELECT ${list.length === 0 ? sql`1` : commaList(list)} FROM _matches AS _m CROSS JOIN ${name(table.name)} AS _t${hint} WHERE ${isRow(
      sql`_t`,
      key.map((column) => sql`_m.${column}`),
    )}${limitOf(limit)}`;
  };
  return {
    gate: { ...gate, ctes: [...gate.ctes, sql`_matches AS MATERIALIZED (${best})`] },
    inAnyOrder: candidates,
    inOrder: () => {
      throw new Error("what a search finds has no order of its own");
    },
    ways: null,
    refer: (column) => (column.name === rank ? m(column) : t(column)),
    exact: true,
    seeks: [
      { alias: "_t", columns: table.primaryKey },
      { alias: "_s", columns: table.primaryKey },
      { alias: "_d", columns: ["doc"] },
    ],
  };
}
