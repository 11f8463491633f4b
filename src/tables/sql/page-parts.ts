import { rowKeyOf } from "../plan/access-path.js";
import type { ListPlan } from "../plan/list-plan.js";
import type { OrderTerm } from "../plan/order.js";
import type { Seek } from "../plan/plan-check.js";
import { and, carried, commaList, integer, name, type Sql, sql } from "../sql-text/fragment.js";
import { type CandidateSource, distinct, selected, type WaysSource } from "./candidates.js";
import type { Judge } from "./judge.js";
import { countedWays, countOf, firstCount, groupedOr, scanLimit, unjudgedWayCount, wayCount } from "./page-count.js";
import { page } from "./page-slots.js";
import { behind, columnsOfAlias, notBehind, orderBy, placeIn, type Refer } from "./place.js";
import { bytesColumn, shortRows, soughtIn } from "./wide-values.js";

/** The SQL of a page and of its count, of which `listStatement` makes the whole statement. */
interface Parts {
  readonly ctes: readonly Sql[];
  readonly page: Sql;
  readonly counted: Sql;
  readonly examined: Sql;
  /**
   * How SQLite is expected to find the rows of those tables that `page`, `counted` and `examined` name beside the
   * source of the candidates. For metering, which checks SQLite's query plan against it.
   */
  readonly seeks: readonly Seek[];
}

const w = columnsOfAlias(sql`_w`);
/** The condition that a further row was found after the page's last one. */
export const isPeeked = sql`_size.found > ${page.limit}`;
const countedCte = (counted: Sql) => sql`_counted AS MATERIALIZED (SELECT (${counted}) AS counted)`;
const fromCounted = sql`(SELECT counted FROM _counted)`;

/**
 * Makes the SQL of a page and of its count where an index yields the rows in the list's order and no condition is left
 * to test: every row that the index finds is in the list.
 */
export function unjudgedParts(plan: ListPlan, source: CandidateSource): Parts {
  const { gate, inOrder, ways } = source;
  const { window } = plan;
  const columns = pageColumns(plan);
  const limit = scanLimit(plan, source);
  const candidates = (list: readonly Sql[]) => inOrder(list, [], sql`LIMIT ${limit}`, null);
  const inWindow = sql`(SELECT count(*) FROM (${candidates([])}) AS _w)`;
  const isFirst = window.after === null;
  const leftInWindow = sql`max(0, min(${page.limit} + 1, ${integer(plan.scanLimit)} - ${page.skip}))`;
  const first = () => inOrder(columns, [], sql`LIMIT ${gate.limited(leftInWindow)} OFFSET ${page.skip}`, null);
  const counting = countedWays(plan, source);
  const inWays = (at: WaysSource) => countedCte(unjudgedWayCount(plan, source, at));
  return {
    ctes: counting === null ? [] : [inWays(counting)],
    page: isFirst && ways === null ? first() : pageOf(columns, candidates(columns), sql`1`),
    counted: counting !== null ? fromCounted : isFirst && ways === null ? firstCount(plan, gate, inWindow) : inWindow,
    examined: window.counted ? sql`CASE WHEN NOT ${isPeeked} THEN ${inWindow} END` : sql`NULL`,
    seeks: [],
  };
}

/**
 * Makes the SQL of a page and of its count where an index yields the rows in the list's order and conditions are left
 * to test. The scan ends when the page is full.
 */
export function judgedParts(plan: ListPlan, source: CandidateSource, judge: Judge): Parts {
  const { order } = plan.path;
  const { window, grouping } = plan;
  const limit = scanLimit(plan, source);
  const from = (columns: readonly Sql[], until: Sql | null) =>
    source.inOrder(columns, judge.probes, sql`LIMIT ${limit}`, until);
  const judged = (until: Sql | null) => from([...judge.columns, ...keyColumns(order)], until);
  const peeked = sql`_peeked`;
  const oneByOne = () => countOf(judged(null), judge.passes, judge);
  const byWays = (at: WaysSource) => wayCount(source, at, judge.columns, judge.probes, judge.passes, judge.probed);
  const counting = countedWays(plan, source);
  const counted =
    counting !== null
      ? byWays(counting)
      : grouping === null
        ? oneByOne()
        : groupedOr(oneByOne(), plan, grouping, source.gate, judge);
  const visits = (until: Sql | null, where: Sql) =>
    sql`SELECT json_array(count(*), ${judge.probed}) FROM (${judged(until)}) AS _w WHERE ${where}`;
  const all = window.counted
    ? visits(null, sql`1`)
    : sql`SELECT json_array(min(counted ->> 0, ${integer(plan.scanLimit)}), ifnull(counted ->> 4, counted ->> 2)) FROM _counted`;
  const isReached = source.ways === null ? notBehind(order, w, placeIn(peeked)) : sql`1`;
  const upToPeeked = visits(peeked, isReached);
  const whenPeeked = plan.metered ? sql`(${upToPeeked})` : sql`NULL`;
  return {
    ctes: [
      ...(window.counted ? [] : [countedCte(counted)]),
      sql`_peeked AS (SELECT * FROM _page LIMIT 1 OFFSET ${page.limit})`,
    ],
    page: pageOf(pageColumns(plan), from(pageColumns(plan, judge.columns), null), judge.passes),
    counted: fromCounted,
    examined: sql`CASE WHEN ${isPeeked} THEN ${whenPeeked} ELSE (${all}) END`,
    seeks: [],
  };
}

/**
 * Makes the SQL of a page and of its count where the index does not yield the list's order: all rows that it finds are
 * examined and sorted, so there may be `scanLimit` of them at most. Only the columns that order and identify a row are
 * sorted. The other columns are read afterwards, and for the page's rows alone.
 */
export function sortedParts(plan: ListPlan, source: CandidateSource, judge: Judge): Parts {
  const { gate, inAnyOrder, ways } = source;
  const { order } = plan.path;
  const limit = ways?.left ?? integer(plan.scanLimit);
  const passes = and([...behindPage(plan, w), judge.passes]);
  const from = (columns: readonly Sql[], limit: Sql) => inAnyOrder(columns, judge.probes, gate.limited(limit));
  const oneMore = ways === null ? integer(plan.scanLimit + 1) : sql`${ways.left} + 1`;
  const counted = from([...judge.columns, ...keyColumns(order)], oneMore);
  // With `<=`, a count of 0 passes as well: where the gate is closed, the count is 0, and the page is read and is
  // empty.
  const few = sql`CASE WHEN (SELECT counted ->> 0 FROM _counted) <= ${limit} THEN -1 ELSE 0 END`;
  const lookup = lookupOf(plan);
  const columns = lookup?.sorted ?? pageColumns(plan);
  const page = pageOf(columns, from([...columns, ...judge.columns], few), sql`${passes}${orderBy(order, w)}`);
  const counting = countedCte(countOf(counted, passes, judge));
  return {
    ctes: lookup === null ? [counting] : [counting, sql`_sorted AS MATERIALIZED (${page})`],
    page: lookup?.page ?? page,
    counted: fromCounted,
    examined: sql`(SELECT json_array(counted ->> 0, counted ->> 2) FROM _counted)`,
    seeks: lookup?.seeks ?? [],
  };
}

/** How the rows of a page get their other columns after they were sorted: the sort holds only those that it needs. */
interface RowLookup {
  /**
   * The columns of `_sorted`, which are all that is sorted: the columns of the order, and those by which each row is
   * found again afterwards, to read its other columns.
   */
  readonly sorted: readonly Sql[];
  /** A SELECT of the page: the rows of `_sorted`, in their order, with their other columns from the table. */
  readonly page: Sql;
  readonly seeks: readonly Seek[];
}

/**
 * Makes the SQL by which the rows of a page are looked up again after they were sorted. Returns null where the sorted
 * columns are all that the page needs, and for a table without a key by which SQL could find a row again: then nothing
 * is looked up, and the rows are sorted with all columns that the page needs.
 */
function lookupOf(plan: ListPlan): RowLookup | null {
  const { table, path } = plan;
  const rowKey = rowKeyOf(table, plan.catalog.tables.get(table.name));
  if (rowKey === null) return null;
  const sorted = distinct([...keyColumns(path.order), ...rowKey.map(carried)]);
  const isSorted = (column: Sql) => sorted.some(({ text }) => text === column.text);
  const columns = pageColumns(plan);
  if (columns.every(isSorted)) return null;
  const list = columns.map((column) => (isSorted(column) ? sql`_sorted.${column}` : selected(plan, sql`_r`, column)));
  const isRow = and([
    ...rowKey.map((column) => sql`_r.${name(column)} = _sorted.${carried(column)}`),
    ...shortRows(plan, sql`_r`, columns),
  ]);
  return {
    sorted,
    // CROSS JOIN makes SQLite go through the rows of `_sorted` and look up one row of the table after the other, which
    // keeps the order.
    page: sql`SELECT ${commaList(list)} FROM _sorted CROSS JOIN ${name(table.name)} AS _r NOT INDEXED WHERE ${isRow}`,
    seeks: [{ alias: "_r", columns: rowKey }],
  };
}

/**
 * Makes the condition that a row comes after the last page that was read, as the one item of a list. The list is empty
 * for the first page, and where an index yields the list's order: there the SELECT begins by seeking that place.
 */
export function behindPage({ path, window }: ListPlan, refer: Refer): readonly Sql[] {
  return path.ordered || window.after === null ? [] : [behind(path.order, window.after, refer)];
}

/** Makes a SELECT of the page's rows and one more: of the candidates that pass, those after the skipped ones. */
function pageOf(columns: readonly Sql[], candidates: Sql, passes: Sql): Sql {
  const list = columns.map((column) => sql`_w.${column}`);
  return sql`SELECT ${commaList(list)} FROM (${candidates}) AS _w WHERE ${passes} LIMIT ${page.limit} + 1 OFFSET ${page.skip}`;
}

/** Returns the columns of an order, by which cursors hold a place in it. */
export function keyColumns(order: readonly OrderTerm[]): readonly Sql[] {
  return order.map(({ column }) => carried(column.name));
}

/**
 * Returns the columns that the SELECT of a page needs: those that are answered, those whose values expansions follow,
 * those of the cursor's key, and `more`. Instead of values that are sought later it has their size and the row's key.
 */
function pageColumns(plan: ListPlan, more: readonly Sql[] = []): readonly Sql[] {
  const sought = soughtIn(plan);
  const inPage = plan.output.filter((column) => !sought.includes(column));
  const later =
    sought.length === 0
      ? []
      : [...rowKeyOf(plan.table, plan.catalog.tables.get(plan.table.name))!.map(carried), bytesColumn];
  return distinct([...inPage.map((column) => carried(column.name)), ...keysOf(plan), ...later, ...more]);
}

/** Returns the columns of a page whose values expansions follow, and those of the cursor's key. */
export function keysOf({ path, expansions }: ListPlan): readonly Sql[] {
  return [...expansions.map(({ from }) => carried(from.name)), ...keyColumns(path.order)];
}
