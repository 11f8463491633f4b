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

/** Up to how many rows that match are all looked up, even where the list's rows could be narrowed down in another way. */
const fewMatches = 1_000;

/**
 * The candidates of a list that a full-text search finds (docs/reference/http.md#search). The common table expression
 * `_matches` holds the keys of the rows that match, with the rank that the list is ordered by. Where there are more than the
 * scan limit it holds some more than the limit, and not all: no page is read then.
 *
 * `among` has the rows that an index or ways lead to, null for all rows. Where many rows match, these are found first
 * (`_own`), and matches outside of them are passed over in the index of words.
 */
export function matchSource(
  plan: ListPlan,
  match: Match,
  gate: Gate,
  among: CandidateSource | null,
): CandidateSource {
  const { table, catalog, scanLimit } = plan;
  const { words, keys } = searchNames(table.name);
  const few = Math.min(fewMatches, scanLimit) + 1;
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
  const matches = (column: number | "all") =>
    sql`_f.${physicalName(words)} MATCH ${param(new Slot(matchSlot(column)))}`;
  const oneMore = integer(scanLimit + 1);
  const isFew = sql`(SELECT few FROM _few)`;
  const limit = gate.limited(among === null ? oneMore : sql`CASE WHEN ${isFew} THEN ${oneMore} ELSE 0 END`);
  const shownAs = (at: number) =>
    commaList([
      ...found.map((value, i) => sql`${value} AS ${key[i]!}`),
      sql`${integer(at)} AS ${name(rank)}`,
    ]);
  // Of a row that was replaced without a trigger the index may still have words: it is joined, so as not to be counted.
  const matching = (column: number | "all", at: number) =>
    sql`SELECT ${shownAs(at)} FROM ${physicalName(words)} AS _f${from} CROSS JOIN ${name(table.name)} AS _s${hint} WHERE ${and([matches(column), ...linked, isRow(sql`_s`, found)])} LIMIT ${limit}`;
  // The plus keeps FTS5 from looking its matches up once for each document, which takes long for a beginning of a word.
  const matchingOwn = (column: number | "all", at: number) =>
    sql`SELECT ${shownAs(at)} FROM ${physicalName(words)} AS _f${from} WHERE ${and([matches(column), sql`+_f.rowid IN (SELECT doc FROM _docs)`, ...linked])} LIMIT ${among!.gate.limited(manyOnly)}`;
  const manyOnly = sql`CASE WHEN ${isFew} THEN 0 ELSE ${oneMore} END`;
  const columns = match.ranks ? match.columns : [];
  const all = [...columns, "all" as const].flatMap((column, at) =>
    among === null ? [matching(column, at)] : [matching(column, at), matchingOwn(column, at)],
  );
  const best = match.ranks
    ? sql`SELECT ${commaList(key)}, min(${name(rank)}) AS ${name(rank)} FROM (${concatenated(all, sql`LIMIT -1`)}) GROUP BY ${commaList(key)}`
    : concatenated(all, empty);
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
  const own =
    among === null
      ? []
      : [
          sql`_few AS MATERIALIZED (SELECT count(*) < ${integer(few)} AS few FROM (SELECT 1 FROM ${physicalName(words)} AS _f WHERE ${matches("all")} LIMIT ${gate.limited(integer(few))}))`,
          sql`_own AS MATERIALIZED (${among.inAnyOrder(table.primaryKey.map(name), [], among.gate.limited(manyOnly))})`,
          sql`_docs AS MATERIALIZED (${docsOf(table, match, keys)})`,
        ];
  const links =
    among === null
      ? null
      : sum([sql`(SELECT count(*) FROM _own)`, ...(among.ways === null ? [] : [among.ways.links])]);
  return {
    gate: {
      ...gate,
      ctes: [...(among ?? { gate }).gate.ctes, ...own, sql`_matches AS MATERIALIZED (${best})`],
    },
    inAnyOrder: candidates,
    inOrder: () => {
      throw new Error("what a search finds has no order of its own");
    },
    ways: links && { links, left: integer(scanLimit), isFirst: null },
    refer: (column) => (column.name === rank ? m(column) : t(column)),
    exact: among?.exact ?? true,
    seeks: [
      ...(among?.seeks ?? []).filter(({ alias }) => alias !== "_t"),
      // The alias stands for the table in two places, and only in one of them its rows are found by their keys.
      { alias: "_t", columns: among === null ? table.primaryKey : [] },
      { alias: "_o", columns: [] },
      {
        alias: "_dk",
        columns:
          match.by === "keys" && among !== null
            ? table.primaryKey.map((_, i) => systemColumnName(`k${i}`))
            : [],
      },
      { alias: "_s", columns: table.primaryKey },
      { alias: "_d", columns: ["doc"] },
    ],
  };
}

/** A SELECT of the documents of the rows in `_own`. */
function docsOf({ primaryKey }: Table, { by }: Match, keys: string): Sql {
  if (by === "rowid") return sql`SELECT ${name(primaryKey[0]!)} AS doc FROM _own`;
  const isIt = and(
    primaryKey.map((column, i) => sql`_dk.${name(systemColumnName(`k${i}`))} = _o.${name(column)}`),
  );
  return sql`SELECT _dk.doc AS doc FROM _own AS _o CROSS JOIN ${physicalName(keys)} AS _dk WHERE ${isIt}`;
}
