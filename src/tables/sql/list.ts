import type { Column } from "../../project/model.js";
import { isUnjudged, rowKeyOf } from "../plan/access-path.js";
import type { Grouping, ListPlan } from "../plan/list-plan.js";
import type { OrderTerm } from "../plan/order.js";
import type { Counted, Seek } from "../plan/plan-check.js";
import {
  and,
  commaList,
  empty,
  integer,
  internalName,
  join,
  name,
  param,
  physicalName,
  Slot,
  type SlotValues,
  type Sql,
  sql,
} from "../sql-text/fragment.js";
import {
  type CandidateSource,
  distinct,
  searchSource,
  servedSql,
  shownColumn,
  tableSource,
  type WaysSource,
} from "./candidates.js";
import { expansionsSql, rowAndKeys, separator } from "./expansions.js";
import { type Gate, gateOf, openGate } from "./gate.js";
import { type Judge, judgeOf } from "./judge.js";
import { matchSource } from "./matches.js";
import { behind, columnsOfAlias, notBehind, orderBy, placeIn, type Refer } from "./place.js";
import { previewedPage } from "./preview.js";
import { searchBudget } from "./search-budget.js";
import { waysSource } from "./ways.js";
import { jsonArray, jsonObject, keyValue, storedBytes } from "./wire.js";

const slot = (name: string) => param(new Slot(name));

/** The placeholders for the numbers that differ between two pages of the same list. */
const page = {
  skip: slot("page.skip"),
  limit: slot("page.limit"),
};

/**
 * Makes the values for the placeholders of a page: it has `limit` rows, and leaves out `skip` rows before them (the
 * request's offset).
 */
export function pageValues(limit: number, skip: number): SlotValues {
  return new Map([
    ["page.skip", BigInt(skip)],
    ["page.limit", BigInt(limit)],
  ]);
}

/**
 * Makes the statement that reads one page of a list. It is a single statement, so that the page and its total are of
 * the same moment. It returns one row with the columns below.
 *
 * A candidate is a row that passes the conditions which the index serves. A row is "in the list" if it passes the
 * filters and the read rule as well. The window is the stretch of the list that is counted as one, at most `scanLimit`
 * candidates. "Probed" is a number of rows that were looked up for an `exists`.
 *
 * - `found`: how many rows in the list were found for the page, at most `limit + 1`.
 * - `rows`: these rows as `rowAndKeys` writes them, with `rowSeparator` between them; NULL where there are none, or
 *   where they have more bytes than an answer can hold.
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
 *
 * `exact` is false where it cannot be known how many rows an `exists` looks up.
 */
export function listStatement(plan: ListPlan): Counted<Sql> {
  const { order, ordered } = plan.path;
  const unmeasured = sourceOf(plan, gateOf(plan));
  const { gate, measured } = searchBudget(plan, unmeasured);
  const source: CandidateSource = { ...unmeasured, gate };
  const judge = judgeOfSource(plan, source);
  const partsOf = isUnjudged(plan.path) ? unjudgedParts : ordered ? judgedParts : sortedParts;
  const parts = partsOf(plan, source, judge);
  const visits = source.ways === null ? gate.visits : sql`json_array(${gate.visits}, ${source.ways.links})`;
  const expansions = expansionsSql(plan, sql`(SELECT * FROM _page LIMIT ${page.limit})`);
  const isPreviewed = plan.preview !== null;
  const rowsOfPage = isPreviewed ? previewedPage(parts.page, keysOf(plan), plan) : parts.page;
  const ctes = [...gate.ctes, ...parts.ctes, sql`_page AS MATERIALIZED (${rowsOfPage})`, ...expansions.ctes];
  const physical = plan.catalog.tables.get(plan.table.name);
  const keys = order.map((term) => keyValue(term, sql`_page.${name(term.column.name)}`, physical));
  const refer = ({ name: column }: Column) => sql`_page.${name(column)}`;
  const row = isPreviewed ? sql`_page._row` : jsonObject(plan.output, refer, physical);
  const rowWithKeys = rowAndKeys(row, [], plan.expansions, sql`_page`, physical);
  const bytes = isPreviewed ? sql`octet_length(_page._row)` : storedBytes(plan.output, refer);
  const rows = sql`SELECT group_concat(${rowWithKeys}, ${separator}) FROM _page`;
  const lastKey = sql`SELECT ${jsonArray(keys)} FROM _page LIMIT 1 OFFSET ${page.limit} - 1`;
  const fits = sql`_size.bytes <= ${integer(plan.catalog.answerBytesMax)}`;
  const counted = plan.window.counted ? sql`NULL` : parts.counted;
  const alsoBytes = plan.expansions.length === 0 ? empty : sql` + ${expansions.bytes}`;
  const expanded = join(
    expansions.columns(fits).map((column) => sql`, ${column}`),
    empty,
  );
  const statement = sql`WITH ${commaList(ctes)} SELECT _size.found AS found, CASE WHEN ${fits} THEN (${rows}) END AS rows, CASE WHEN ${isPeeked} THEN (${lastKey}) END AS last_key, ${counted} AS counted, ${parts.examined} AS examined, ${visits} AS gate_visits, ${measured} AS searched${expanded} FROM (SELECT sum(${bytes})${alsoBytes} AS bytes, count(*) AS found FROM _page) AS _size`;
  return {
    statement,
    asked: statement,
    exact: gate.exact && source.exact && judge.exact && expansions.exact,
    seeks: [...source.seeks, ...gate.seeks, ...judge.seeks, ...parts.seeks, ...expansions.seeks],
  };
}

/**
 * Makes the source that a list's statement gets its candidates (the rows to test) from: a full-text search, or ways
 * (index walks from a known value), or else an index or the table itself.
 */
export function sourceOf(plan: ListPlan, gate: Gate): CandidateSource {
  const { ways } = plan.path;
  if (plan.match !== null)
    return matchSource(plan, plan.match, gate, plan.among && sourceOf(plan.among, gate));
  return ways === null ? searchSource(plan, gate) : waysSource(plan, ways, gate);
}

/**
 * Makes the tests of a list's candidates (rows that may be in the list). Where several ways (index walks from a known
 * value) lead to candidates, one test is that no earlier way leads to the same row, so that a row is listed once.
 */
export function judgeOfSource(plan: ListPlan, { gate, ways, refer }: CandidateSource): Judge {
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
export function windowEndStatement(plan: ListPlan): Sql {
  const { order } = plan.path;
  const { gate, inOrder } = sourceOf(plan, openGate);
  const candidates = inOrder(keyColumns(order), [], sql`LIMIT ${integer(plan.scanLimit + 1)}`, null);
  const physical = plan.catalog.tables.get(plan.table.name);
  const keys = order.map((term) => keyValue(term, sql`_w.${name(term.column.name)}`, physical));
  const ctes = gate.ctes.length === 0 ? sql`` : sql`WITH ${commaList(gate.ctes)} `;
  return sql`${ctes}SELECT ${jsonArray(keys)} FROM (${candidates}) AS _w LIMIT 2 OFFSET ${integer(plan.scanLimit - 1)}`;
}

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
const isPeeked = sql`_size.found > ${page.limit}`;
const countedCte = (counted: Sql) => sql`_counted AS MATERIALIZED (SELECT (${counted}) AS counted)`;
const fromCounted = sql`(SELECT counted FROM _counted)`;

/**
 * Makes the SQL of a page and of its count where an index yields the rows in the list's order and no condition is left
 * to test: every row that the index finds is in the list.
 */
function unjudgedParts(plan: ListPlan, source: CandidateSource): Parts {
  const { gate, inOrder, ways } = source;
  const { window } = plan;
  const columns = pageColumns(plan);
  const limit = scanLimit(plan, source);
  const candidates = (list: readonly Sql[]) => inOrder(list, [], sql`LIMIT ${limit}`, null);
  const inWindow = sql`(SELECT count(*) FROM (${candidates([])}) AS _w)`;
  const isFirst = window.after === null;
  const leftInWindow = sql`max(0, min(${page.limit} + 1, ${integer(plan.scanLimit)} - ${page.skip}))`;
  const first = () =>
    inOrder(columns, [], sql`LIMIT ${gate.limited(leftInWindow)} OFFSET ${page.skip}`, null);
  const counting = countedWays(plan, source);
  const inWays = (at: WaysSource) => countedCte(unjudgedWayCount(plan, source, at));
  return {
    ctes: counting === null ? [] : [inWays(counting)],
    page: isFirst && ways === null ? first() : pageOf(columns, candidates(columns), sql`1`),
    counted:
      counting !== null
        ? fromCounted
        : isFirst && ways === null
          ? firstCount(plan, gate, inWindow)
          : inWindow,
    examined: window.counted ? sql`CASE WHEN NOT ${isPeeked} THEN ${inWindow} END` : sql`NULL`,
    seeks: [],
  };
}

/**
 * Returns the ways of a list (index walks from a known value) if the rows that they lead to are counted before the page
 * is read; else null. They are counted in no order, which is much quicker than in the list's order, and only for a
 * list's first window. If there are more rows than the scan limit, no page is read, and the list is then read by an
 * index instead.
 */
function countedWays({ window }: ListPlan, { ways }: CandidateSource): WaysSource | null {
  return window.counted || window.after !== null || window.upTo !== null ? null : ways;
}

/**
 * Makes the SELECT that counts the rows that ways (index walks from a known value) lead to, before the page is read. It
 * returns the JSON array of `counted` (see `listStatement`), with a fourth item of 1 where all of these rows were
 * counted and 0 where there are more than the scan limit.
 */
function wayCount(
  { gate, inAnyOrder }: CandidateSource,
  { left }: WaysSource,
  columns: readonly Sql[],
  probes: readonly Sql[],
  passes: Sql,
  probed: Sql,
): Sql {
  const candidates = inAnyOrder(columns, probes, gate.limited(sql`${left} + 1`));
  return sql`SELECT json_array(count(*), count(*) FILTER (WHERE ${passes}), ${probed}, count(*) <= ${left}) FROM (${candidates}) AS _w`;
}

/**
 * Makes the SELECT that counts the rows that ways (index walks from a known value) lead to, where no condition is left
 * to test, so that all of them are in the list. In a small table the rows are counted without a limit, which is
 * quicker.
 */
function unjudgedWayCount(plan: ListPlan, { gate, inAnyOrder }: CandidateSource, { left }: WaysSource): Sql {
  const all = gate.counted(sql`SELECT count(*) FROM (${inAnyOrder([], [], null)}) AS _w`);
  const limited = sql`(SELECT count(*) FROM (${inAnyOrder([], [], gate.limited(sql`${left} + 1`))}) AS _w)`;
  const counted = sql`CASE WHEN ${hasFewerRowids(plan, plan.scanLimit)} THEN ${all} ELSE ${limited} END`;
  return sql`SELECT json_array(n, n, 0, n <= ${left}) FROM (SELECT ${counted} AS n)`;
}

/** Makes the expression for the LIMIT of a window's candidates: the scan limit, or 0 where no row is to be read. */
function scanLimit(plan: ListPlan, source: CandidateSource): Sql {
  const limit = integer(plan.scanLimit);
  const isCounted = countedWays(plan, source) !== null;
  return source.gate.limited(
    isCounted ? sql`CASE WHEN (SELECT counted ->> 3 FROM _counted) THEN ${limit} ELSE 0 END` : limit,
  );
}

/**
 * Makes the SQL of the count for a list's first page, where no condition is left to test. With `briefTableMax`, all
 * rows of a table are counted that has no more rows than that. Without it, all are counted where the table fits into a
 * window, or where no condition restricts the list. Otherwise the count ends at the scan limit.
 */
function firstCount(plan: ListPlan, gate: Gate, inWindow: Sql): Sql {
  const { briefTableMax, scanLimit } = plan;
  const { served } = plan.path;
  const counted =
    served.length === 0 ? wholeTable(plan) : sql`${tableSource(plan)} WHERE ${servedSql(served)}`;
  if (briefTableMax !== null) {
    const all = gate.counted(sql`SELECT json_array(count(*), count(*), 0, 1) FROM ${counted}`);
    return sql`CASE WHEN ${hasFewerRowids(plan, briefTableMax)} THEN ${all} ELSE ${inWindow} END`;
  }
  const all = gate.counted(sql`SELECT count(*) FROM ${counted}`);
  return served.length === 0
    ? all
    : sql`CASE WHEN ${hasFewerRowids(plan, scanLimit)} THEN ${all} ELSE ${inWindow} END`;
}

/**
 * Returns the listed table in the FROM of a count of all rows. SQLite may choose any index for it, unless the table has
 * columns whose collation this database lacks: an index of theirs cannot be used.
 */
function wholeTable({ catalog, table }: ListPlan): Sql {
  const isCollated = (catalog.unsupported.columns.get(table.name)?.size ?? 0) > 0;
  return isCollated ? sql`${name(table.name)} NOT INDEXED` : name(table.name);
}

/**
 * Makes the SQL of a page and of its count where an index yields the rows in the list's order and conditions are left
 * to test. The scan ends when the page is full.
 */
function judgedParts(plan: ListPlan, source: CandidateSource, judge: Judge): Parts {
  const { order } = plan.path;
  const { window, grouping } = plan;
  const limit = scanLimit(plan, source);
  const from = (columns: readonly Sql[], until: Sql | null) =>
    source.inOrder(columns, judge.probes, sql`LIMIT ${limit}`, until);
  const judged = (until: Sql | null) => from([...judge.columns, ...keyColumns(order)], until);
  const peeked = sql`_peeked`;
  const oneByOne = () => countOf(judged(null), judge.passes, judge);
  const byWays = (at: WaysSource) =>
    wayCount(source, at, judge.columns, judge.probes, judge.passes, judge.probed);
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
function sortedParts(plan: ListPlan, source: CandidateSource, judge: Judge): Parts {
  const { gate, inAnyOrder, ways } = source;
  const { order } = plan.path;
  const limit = ways?.left ?? integer(plan.scanLimit);
  const passes = and([...behindPage(plan, w), judge.passes]);
  const from = (columns: readonly Sql[], limit: Sql) =>
    inAnyOrder(columns, judge.probes, gate.limited(limit));
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
  /**
   * A SELECT of the page: takes the rows of `_sorted`, in their order, and looks up their other columns in the table.
   */
  readonly page: Sql;
  readonly seeks: readonly Seek[];
}

/**
 * Makes the SQL by which the rows of a page are looked up again after they were sorted. Returns null where the sorted
 * columns are all that the page needs, and for a table without a key by which SQL could find a row again: then nothing
 * is looked up, and the rows are sorted with all columns that the page needs.
 */
function lookupOf(plan: ListPlan): RowLookup | null {
  const { table, catalog, path } = plan;
  const rowKey = rowKeyOf(table, catalog.tables.get(table.name));
  if (rowKey === null) return null;
  const sorted = distinct([...keyColumns(path.order), ...rowKey.map(name)]);
  const isSorted = (column: Sql) => sorted.some(({ text }) => text === column.text);
  const columns = pageColumns(plan);
  if (columns.every(isSorted)) return null;
  const list = columns.map((column) =>
    isSorted(column) ? sql`_sorted.${column}` : shownColumn(catalog, table, sql`_r`, column),
  );
  const isRow = and(rowKey.map((column) => sql`_r.${name(column)} = _sorted.${name(column)}`));
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
function behindPage({ path, window }: ListPlan, refer: Refer): readonly Sql[] {
  return path.ordered || window.after === null ? [] : [behind(path.order, window.after, refer)];
}

/**
 * Makes a SELECT of the page's rows and one more: of the candidates (rows to test) that pass, those after the skipped
 * ones, with these columns.
 */
function pageOf(columns: readonly Sql[], candidates: Sql, passes: Sql): Sql {
  const list = columns.map((column) => sql`_w.${column}`);
  return sql`SELECT ${commaList(list)} FROM (${candidates}) AS _w WHERE ${passes} LIMIT ${page.limit} + 1 OFFSET ${page.skip}`;
}

/**
 * Makes a SELECT that counts a window (the stretch of the list that is counted as one): a JSON array of how many
 * candidates it has, how many of them are in the list, and how many rows were looked up for an `exists`.
 */
function countOf(candidates: Sql, passes: Sql, judge: Judge): Sql {
  return sql`SELECT json_array(count(*), count(*) FILTER (WHERE ${passes}), ${judge.probed}) FROM (${candidates}) AS _w`;
}

/**
 * Makes a condition that is TRUE only if the whole table has at most `max` rows: that its first and last rowid are so
 * close to each other. A table with gaps between its rowids may fail it with fewer rows. Reading these two rowids is
 * not counted in `rows_read` (`docs/reference/metering.md#what-is-counted`).
 */
function hasFewerRowids({ table, catalog }: ListPlan, max: number): Sql {
  const rowid = catalog.tables.get(table.name)?.rowid ?? null;
  // A table WITHOUT ROWID is taken to have more: to know, its rows would have to be counted.
  if (rowid === null) return sql`0`;
  const end = (which: Sql) => sql`(SELECT ${which}(_e.${name(rowid)}) FROM ${name(table.name)} AS _e)`;
  return sql`${end(sql`max`)} - ${end(sql`min`)} < ${integer(max)}`;
}

/**
 * Makes the SELECT that counts a whole table which fits into a window. Rows with the same values in all tested columns
 * form a group, which an index counts and which is tested once. Returns a JSON array `[candidates, in the list, probed,
 * 1, probed if each candidate had been tested by itself]`, where `probed` is how many rows were looked up for an
 * `exists`. For a larger table the result is that of `oneByOne`, the SELECT that tests each candidate by itself.
 */
function groupedOr(
  oneByOne: Sql,
  plan: ListPlan,
  { index, columns }: Grouping,
  gate: Gate,
  judge: Judge,
): Sql {
  const keys = columns.map((column) => sql`_t.${name(column)}`);
  const list = [
    sql`count(*) AS _n`,
    ...keys.map((key, i) => sql`${key} AS ${name(columns[i]!)}`),
    ...judge.probes,
  ];
  const groups = sql`SELECT ${commaList(list)} FROM ${name(plan.table.name)} AS _t INDEXED BY ${physicalName(index.name)} GROUP BY ${commaList(keys)} LIMIT ${gate.limited(sql`-1`)}`;
  const authorized = sql`ifnull(sum(_w._n) FILTER (WHERE ${judge.passes}), 0)`;
  const grouped = sql`SELECT json_array(ifnull(sum(_w._n), 0), ${authorized}, ${judge.probed}, 1, ${judge.probedEach}) FROM (${groups}) AS _w`;
  return sql`SELECT CASE WHEN ${hasFewerRowids(plan, plan.scanLimit)} THEN (${grouped}) ELSE (${oneByOne}) END`;
}

function keyColumns(order: readonly OrderTerm[]): readonly Sql[] {
  return order.map(({ column }) => name(column.name));
}

/**
 * Returns the columns that the SELECT of a page needs: those that are answered, those whose values expansions follow,
 * those of the cursor's key, and `more`.
 */
function pageColumns(plan: ListPlan, more: readonly Sql[] = []): readonly Sql[] {
  return distinct([...plan.output.map((column) => name(column.name)), ...keysOf(plan), ...more]);
}

/** Returns the columns of a page whose values expansions follow, and those of the cursor's key. */
function keysOf({ path, expansions }: ListPlan): readonly Sql[] {
  return [...expansions.map(({ from }) => name(from.name)), ...keyColumns(path.order)];
}
