import type { Column, Table } from "../../project/model.js";
import { isUnjudged, rowKeyOf } from "../plan/access-path.js";
import type { ListPlan } from "../plan/list-plan.js";
import type { Counted } from "../plan/plan-check.js";
import {
  and,
  carried,
  commaList,
  empty,
  integer,
  internalName,
  join,
  name,
  type Sql,
  sql,
} from "../sql-text/fragment.js";
import { type CandidateSource, searchSource } from "./candidates.js";
import { expansionsSql, rowAndKeys, separator } from "./expansions.js";
import { type Gate, gateOf, openGate } from "./gate.js";
import { type Judge, judgeOf } from "./judge.js";
import { logPosition } from "./log.js";
import { matchSource } from "./matches.js";
import { behindPage, judgedParts, keyColumns, keysOf, sortedParts, unjudgedParts } from "./page-parts.js";
import { page } from "./page-slots.js";
import { previewedPage } from "./preview.js";
import { searchBudget } from "./search-budget.js";
import { waysSource } from "./ways.js";
import { bytesColumn, soughtIn } from "./wide-values.js";
import { jsonArray, jsonObject, keyValue, storedBytes } from "./wire.js";

/**
 * Makes the statement that reads one page of a list. It is a single statement, so that the page and its total are of
 * the same moment. It returns one row with the columns below.
 *
 * A candidate is a row that passes the conditions which the index serves. A row is "in the list" if it passes the
 * filters and the read rule as well. The window is the stretch of the list that is counted as one, at most `scanLimit`
 * candidates. "Probed" is a number of rows that were looked up for an `exists`.
 *
 * - `found`: how many rows in the list were found for the page, at most `limit + 1`.
 * - `fitting`: how many of them the page has: at most `limit`, and as many as `pageBytesMax` allows, but at least one.
 * - `rows`: these rows as `rowAndKeys` writes them, with `rowSeparator` between them; NULL where there are none, or
 *   where they have more bytes than an answer can hold. Short rows (`WideValues`) are all that were found, because it is
 *   quicker to leave out the last one afterwards.
 * - `last_key`: the key of the page's last row as a JSON array; NULL where no further row was found after the page.
 * - `counted`: how many candidates the window has, all of which are in the list; or a JSON array `[candidates, in the
 *   list, probed]`. A fourth item is 1 where the whole list is known to have been counted; `groupedOr` adds a fifth.
 *   NULL where the window need not be counted, because an earlier page has done so.
 * - `examined`: how many candidates were examined for the page, or a JSON array `[candidates, probed]`. NULL where the
 *   other columns tell it, because all candidates are in the list. In the order of the index it is also NULL if the
 *   plan is not metered and a further row was found after the page.
 * - `gate_visits`: how many rows were looked up for what is decided before any row of the table is read (`Gate`); for a
 *   list by ways a JSON array of that number and the one of `WaysSource.links`.
 * - `searched`: the value of `SearchBudget.measured`. Where the budget does not allow the search, no row is read.
 * - The columns of the list's expansions (`ExpansionsSql`).
 * - For a client's copy (`ListRequest.copies`), instead of expansions: a JSON array of the number of the newest entry of
 *   the log, and its witness.
 *
 * `exact` is false where it cannot be known how many rows an `exists` looks up.
 */
export function listStatement(plan: ListPlan): Counted<Sql> {
  const { order, ordered } = plan.path;
  const { source, measured, judge } = judgedSource(plan);
  const { gate } = source;
  const partsOf = isUnjudged(plan.path) ? unjudgedParts : ordered ? judgedParts : sortedParts;
  const parts = partsOf(plan, source, judge);
  const visits = source.ways === null ? gate.visits : sql`json_array(${gate.visits}, ${source.ways.links})`;
  const isShort = plan.wide === "short";
  const fitting = isShort ? page.limit : sql`(SELECT fitting FROM _size)`;
  const inPage = sql`(SELECT * FROM _page LIMIT ${fitting})`;
  const expansions = expansionsSql(plan, inPage);
  const isPreviewed = plan.preview !== null;
  const rowsOfPage = isPreviewed ? previewedPage(parts.page, keysOf(plan), plan) : parts.page;
  const physical = plan.catalog.tables.get(plan.table.name);
  const keys = order.map((term) => keyValue(term, sql`_page.${carried(term.column.name)}`, physical));
  const sought = soughtIn(plan);
  const ofRow = ({ name: column }: Column) => sql`_page.${carried(column)}`;
  const refer = (column: Column) => (sought.includes(column) ? sql`_v.${name(column.name)}` : ofRow(column));
  const row = isPreviewed ? sql`_page._row` : jsonObject(plan.output, refer, physical);
  const rowWithKeys = plan.copies
    ? sql`${row} || char(10) || ${jsonObject(keyOf(plan.table), ofRow, physical)}`
    : rowAndKeys(row, [], plan.expansions, sql`_page`, physical);
  const rowKey = sought.length === 0 ? [] : rowKeyOf(plan.table, physical)!;
  // CROSS JOIN makes SQLite look up the row of one row of the page after the other, which keeps the order.
  const from = isShort
    ? sql`_page`
    : sought.length === 0
      ? sql`${inPage} AS _page`
      : sql`${inPage} AS _page CROSS JOIN ${name(plan.table.name)} AS _v NOT INDEXED WHERE ${and(rowKey.map((column) => sql`_v.${name(column)} = _page.${carried(column)}`))}`;
  const rows = sql`SELECT group_concat(${rowWithKeys}, ${separator}) FROM ${from}`;
  const lastKey = sql`SELECT ${jsonArray(keys)} FROM _page LIMIT 1 OFFSET ${fitting} - 1`;
  const bytes = isPreviewed
    ? sql`octet_length(_page._row)`
    : sought.length > 0
      ? sql`_page.${bytesColumn}`
      : storedBytes(plan.output, ofRow);
  const fits = fitsInAnswer(plan, expansions.bytes);
  const ctes = [
    ...gate.ctes,
    ...parts.ctes,
    sql`_page AS MATERIALIZED (${rowsOfPage})`,
    ...(isShort ? [] : [sql`_size AS MATERIALIZED (${sizeOf(bytes, plan)})`]),
    ...expansions.ctes,
  ];
  const counted = plan.window.counted ? sql`NULL` : parts.counted;
  const expanded = join(
    expansions.columns(fits).map((column) => sql`, ${column}`),
    empty,
  );
  const statement = sql`WITH ${commaList(ctes)} SELECT _size.found AS found, _size.fitting AS fitting, ${isShort ? sql`(${rows})` : sql`CASE WHEN ${fits} THEN (${rows}) END`} AS rows, CASE WHEN _size.found > _size.fitting THEN (${lastKey}) END AS last_key, ${counted} AS counted, ${parts.examined} AS examined, ${visits} AS gate_visits, ${measured} AS searched${plan.copies ? sql`, ${logPosition} AS position` : expanded} FROM ${isShort ? sql`(${sizeOfShort}) AS _size` : sql`_size`}`;
  return {
    statement,
    asked: statement,
    exact: gate.exact && source.exact && judge.exact && expansions.exact,
    seeks: [
      ...source.seeks,
      ...gate.seeks,
      ...judge.seeks,
      ...parts.seeks,
      ...expansions.seeks,
      ...(sought.length === 0 ? [] : [{ alias: "_v", columns: rowKey }]),
    ],
  };
}

/** The columns of a table's key, in the order in which answers have them. */
const keyOf = ({ columns, primaryKey }: Table) =>
  [...columns.values()].filter((column) => primaryKey.includes(column.name));

/**
 * A SELECT of how many rows were `found`, and how many of them are `fitting`. Of short rows all fit, up to the limit.
 */
const sizeOfShort = sql`SELECT count(*) AS found, min(count(*), ${page.limit}) AS fitting FROM _page`;

/**
 * As `sizeOfShort`, for rows of any size, and with the `bytes` of those that fit. `bytes` is the SQL of the size of a row
 * of `_page`.
 */
function sizeOf(bytes: Sql, { catalog }: ListPlan): Sql {
  const sums = sql`SELECT sum(${bytes}) OVER (ROWS UNBOUNDED PRECEDING) AS bytes FROM _page LIMIT ${page.limit}`;
  const fitting = sql`SELECT count(*) FILTER (WHERE bytes <= ${integer(catalog.pageBytesMax)}) AS n, min(bytes) AS least, max(bytes) FILTER (WHERE bytes <= ${integer(catalog.pageBytesMax)}) AS most FROM (${sums})`;
  const found = sql`SELECT count(*) FROM _page`;
  return sql`SELECT (${found}) AS found, CASE WHEN least IS NULL THEN 0 ELSE max(n, 1) END AS fitting, coalesce(most, least, 0) AS bytes FROM (${fitting})`;
}

/**
 * The condition that the rows of a page are not too large for an answer, together with those of their expansions, which
 * have this many bytes. A single row without expansions may be larger than a page, but not in a page that is read in
 * the event loop.
 */
function fitsInAnswer({ catalog, expansions, wide, briefTableMax }: ListPlan, expanded: Sql): Sql {
  if (wide === "short") return sql`1`;
  return expansions.length === 0 && briefTableMax === null
    ? sql`_size.bytes <= ${integer(catalog.answerBytesMax)}`
    : sql`_size.bytes + ${expanded} <= ${integer(catalog.pageBytesMax)}`;
}

/** Makes the source of a list's candidates, what their `contains` filters would cost (`SearchBudget`), and their tests. */
export function judgedSource(plan: ListPlan) {
  const unmeasured = sourceOf(plan, gateOf(plan));
  const { gate, measured } = searchBudget(plan, unmeasured);
  const source: CandidateSource = { ...unmeasured, gate };
  return { source, measured, judge: judgeOfSource(plan, source) };
}

/**
 * Makes the source that a list's statement gets its candidates from: a full-text search, or ways, or else an index or
 * the table itself.
 */
function sourceOf(plan: ListPlan, gate: Gate): CandidateSource {
  const { ways } = plan.path;
  if (plan.match !== null) return matchSource(plan, plan.match, gate, plan.among && sourceOf(plan.among, gate));
  return ways === null ? searchSource(plan, gate) : waysSource(plan, ways, gate);
}

/**
 * Makes the tests of a list's candidates. Where several ways lead to candidates, one test is that no earlier way leads
 * to the same row, so that a row is listed once.
 */
function judgeOfSource(plan: ListPlan, { gate, ways, refer }: CandidateSource): Judge {
  const behind = behindPage(plan, refer);
  const isFirst = ways?.isFirst ?? null;
  if (isFirst === null) return judgeOf(plan, gate, behind);
  const judge = judgeOf(plan, gate, [...behind, isFirst]);
  const column = internalName("f", 0);
  return {
    ...judge,
    probes: [sql`${isFirst} AS ${column}`, ...judge.probes],
    passes: and([sql`_w.${column}`, judge.passes]),
  };
}

/**
 * Makes the SELECT that finds where a window ends, which is the stretch of a list that is counted as one: as many
 * candidates as the scan limit allows. It returns rows of one column, a key as a JSON array: first that of the window's
 * last candidate, then that of the candidate after it, if there is one. It returns no row where the list has fewer
 * candidates.
 */
export function windowEndStatement(given: ListPlan): Sql {
  const plan: ListPlan = { ...given, wide: "carried", comparedBytesMax: null };
  const { order } = plan.path;
  const { gate, inOrder } = sourceOf(plan, openGate);
  const candidates = inOrder(keyColumns(order), [], sql`LIMIT ${integer(plan.scanLimit + 1)}`, null);
  const physical = plan.catalog.tables.get(plan.table.name);
  const keys = order.map((term) => keyValue(term, sql`_w.${carried(term.column.name)}`, physical));
  const ctes = gate.ctes.length === 0 ? sql`` : sql`WITH ${commaList(gate.ctes)} `;
  return sql`${ctes}SELECT ${jsonArray(keys)} FROM (${candidates}) AS _w LIMIT 2 OFFSET ${integer(plan.scanLimit - 1)}`;
}
