import type { Column } from "../../project/model.js";
import { isUnjudged, rowKeyOf } from "../list/access-path.js";
import type { Grouping, ListPlan } from "../list/list-plan.js";
import type { OrderTerm } from "../list/order.js";
import type { Counted, Seek } from "../plan-check.js";
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
} from "./fragment.js";
import { type Gate, gateOf, openGate } from "./gate.js";
import { type Judge, judgeOf } from "./judge.js";
import { matchSource } from "./matches.js";
import { behind, columnsOfAlias, notBehind, orderBy, placeIn, type Refer } from "./place.js";
import { previewedPage } from "./preview.js";
import { searchBudget } from "./search-budget.js";
import { waysSource } from "./ways.js";
import { jsonArray, jsonObject, keyValue, storedBytes } from "./wire.js";

const slot = (name: string) => param(new Slot(name));

/** The placeholders for the numbers that differ from page to page. */
const page = {
  skip: slot("page.skip"),
  limit: slot("page.limit"),
};

/** The values for the statement of a page that has `limit` rows and begins after `skip` others. */
export function pageValues(limit: number, skip: number): SlotValues {
  return new Map([
    ["page.skip", BigInt(skip)],
    ["page.limit", BigInt(limit)],
  ]);
}

/**
 * The statement that reads one page. It is a single statement, so that the page and its total are of the same moment.
 * It returns one row with the columns below. "In the list" means that a row passes the filters and the rule. A
 * candidate is a row that passes the conditions which the index serves. "Probed" is the number of rows that were looked
 * up for an `exists`.
 *
 * - `found`: how many rows in the list were found, at most `limit + 1`;
 * - `rows`: these rows as `rowAndKeys` writes them, with `rowSeparator` between them; NULL where there are none, or more bytes than an
 *   answer can hold;
 * - `last_key`: the key of the page's last row as a JSON array; NULL where no row was found beyond the page;
 * - `counted`: the number of candidates in the window where all of them are in the list, else a JSON array
 *   `[candidates, in the list, probed]`, with a fourth item of 1 where that is known to be the whole table, or what
 *   `groupedOr` says; NULL where an earlier page has counted the window;
 * - `examined`: the number of candidates that were examined for the page, or a JSON array `[candidates, probed]`; NULL
 *   where the other columns tell it because all candidates are in the list, and, if the plan is not metered, also where
 *   a row was found beyond the page of a list in the index's order;
 * - `gate_visits`: the number of rows that were looked up for what is decided before any row of the table is read
 *   (`Gate`);
 * - `searched`: what `SearchBudget.measured` says. Where the budget does not allow the search, no row is read;
 * - the columns of its expansions (`ExpansionsSql`).
 *
 * `exact` is false where the number of rows that an `exists` looks up cannot be known.
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

/** Where the candidates of a list come from: a search, its ways, or else an index or the table. */
export function sourceOf(plan: ListPlan, gate: Gate): CandidateSource {
  const { ways } = plan.path;
  if (plan.match !== null)
    return matchSource(plan, plan.match, gate, plan.among && sourceOf(plan.among, gate));
  return ways === null ? searchSource(plan, gate) : waysSource(plan, ways, gate);
}

/** The tests of candidates; where several ways lead to them, also that each of them is in the list once. */
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
 * For a window (a stretch of the list's order that is counted as one) with as many candidates as the scan limit allows:
 * finds out whether more follow. Returns rows of one column, a key as a JSON array: that of the window's last
 * candidate, and that of the candidate after it if there is one. No row where the table ends before.
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
  /** How SQLite is expected to find the rows of tables that only these parts name. */
  readonly seeks: readonly Seek[];
}

const w = columnsOfAlias(sql`_w`);
/** Whether a row after the page's last one was found. */
const isPeeked = sql`_size.found > ${page.limit}`;
const countedCte = (counted: Sql) => sql`_counted AS MATERIALIZED (SELECT (${counted}) AS counted)`;
const fromCounted = sql`(SELECT counted FROM _counted)`;

/**
 * The page and its count for an index that yields the order and leaves no condition to test: every row that it finds is
 * in the list.
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
 * The ways of a list, if the rows that they lead to are counted before the page is read, in no order, which is much
 * sooner done than in the list's; else null. Only for the first window. Where there are more than the scan limit, no page
 * is read: the list then takes another path.
 */
function countedWays({ window }: ListPlan, { ways }: CandidateSource): WaysSource | null {
  return window.counted || window.after !== null || window.upTo !== null ? null : ways;
}

/** The count that `countedWays` is about, with a fourth item of 1 where it is whole (see `listStatement`). */
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

/** The same count where all candidates are in the list. In a small table it ends by itself, which is counted faster. */
function unjudgedWayCount(plan: ListPlan, { gate, inAnyOrder }: CandidateSource, { left }: WaysSource): Sql {
  const all = gate.counted(sql`SELECT count(*) FROM (${inAnyOrder([], [], null)}) AS _w`);
  const limited = sql`(SELECT count(*) FROM (${inAnyOrder([], [], gate.limited(sql`${left} + 1`))}) AS _w)`;
  const counted = sql`CASE WHEN ${hasFewerRowids(plan, plan.scanLimit)} THEN ${all} ELSE ${limited} END`;
  return sql`SELECT json_array(n, n, 0, n <= ${left}) FROM (SELECT ${counted} AS n)`;
}

/** The number for LIMIT of a window's candidates. */
function scanLimit(plan: ListPlan, source: CandidateSource): Sql {
  const limit = integer(plan.scanLimit);
  const isCounted = countedWays(plan, source) !== null;
  return source.gate.limited(
    isCounted ? sql`CASE WHEN (SELECT counted ->> 3 FROM _counted) THEN ${limit} ELSE 0 END` : limit,
  );
}

/**
 * The count for a list's first page. Everything is counted where the table has at most `briefTableMax` rows; for a plan
 * without that limit, where the table fits into a window or no condition restricts the list. Otherwise the count ends
 * at the scan limit.
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
 * The table in the FROM of a count. SQLite may choose any index, unless one of them may use a collation that this
 * database lacks.
 */
function wholeTable({ catalog, table }: ListPlan): Sql {
  const isCollated = (catalog.unsupported.columns.get(table.name)?.size ?? 0) > 0;
  return isCollated ? sql`${name(table.name)} NOT INDEXED` : name(table.name);
}

/**
 * The page and its count for an index that yields the order, with conditions left to test: the scan ends when the page
 * is full.
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
 * The page and its count for an index that does not yield the order: all rows that it finds are examined and sorted, so
 * there may be `scanLimit` at most. The sort holds the columns that order and identify a row. The others are read
 * afterwards, of the page's rows.
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
  // Where the gate is closed, so that no row is to be read, the count is 0. So the page is read as well and is empty.
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

/** How the rows of a page that was sorted get the columns that were left out of the sort. */
interface RowLookup {
  /**
   * The columns that the sort holds (those of `_sorted`): the columns of the order, and those by which each row is
   * found again afterwards, to read its other columns.
   */
  readonly sorted: readonly Sql[];
  /** A SELECT of the page that takes the rows of `_sorted`, in their order, and looks the other columns up. */
  readonly page: Sql;
  readonly seeks: readonly Seek[];
}

/** Null where no column has to be left out of the sort, and where a table has no key by which SQL finds a row. */
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
    // CROSS JOIN makes SQLite go through `_sorted` and look up one row after the other, which keeps the order.
    page: sql`SELECT ${commaList(list)} FROM _sorted CROSS JOIN ${name(table.name)} AS _r NOT INDEXED WHERE ${isRow}`,
    seeks: [{ alias: "_r", columns: rowKey }],
  };
}

/**
 * The condition that a row comes after the last page. Only where rows have to be sorted: where an index yields the
 * order, the page begins with a seek instead. Empty for the first page.
 */
function behindPage({ path, window }: ListPlan, refer: Refer): readonly Sql[] {
  return path.ordered || window.after === null ? [] : [behind(path.order, window.after, refer)];
}

/** A SELECT of the page's rows, with these columns, among the candidates that pass. */
function pageOf(columns: readonly Sql[], candidates: Sql, passes: Sql): Sql {
  const list = columns.map((column) => sql`_w.${column}`);
  return sql`SELECT ${commaList(list)} FROM (${candidates}) AS _w WHERE ${passes} LIMIT ${page.limit} + 1 OFFSET ${page.skip}`;
}

/**
 * The count of a window as a JSON array: candidates, those of them that are in the list, rows that were looked up for
 * an `exists`.
 */
function countOf(candidates: Sql, passes: Sql, judge: Judge): Sql {
  return sql`SELECT json_array(count(*), count(*) FILTER (WHERE ${passes}), ${judge.probed}) FROM (${candidates}) AS _w`;
}

/**
 * Whether the whole table has at most `max` rows, which its first and last rowid show if they are close enough. These
 * two rowids are not counted in `rows_read` (`docs/reference/metering.md#what-is-counted`).
 */
function hasFewerRowids({ table, catalog }: ListPlan, max: number): Sql {
  const rowid = catalog.tables.get(table.name)?.rowid ?? null;
  // The rows of a table WITHOUT ROWID would have to be counted to know.
  if (rowid === null) return sql`0`;
  const end = (which: Sql) => sql`(SELECT ${which}(_e.${name(rowid)}) FROM ${name(table.name)} AS _e)`;
  return sql`${end(sql`max`)} - ${end(sql`min`)} < ${integer(max)}`;
}

/**
 * The count of a whole table, if it fits into a window: rows with the same values in the tested columns are counted as
 * groups, by an index, and each group is tested once. Returns a JSON array `[candidates, in the list, probed, 1, probed
 * if each candidate had been tested by itself]`, where `probed` counts rows that were looked up for an `exists`. For a
 * larger table the result is that of `oneByOne`.
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

/** The columns that a page needs: those of the answer, those that expansions begin with, those of the key, and `more`. */
function pageColumns(plan: ListPlan, more: readonly Sql[] = []): readonly Sql[] {
  return distinct([...plan.output.map((column) => name(column.name)), ...keysOf(plan), ...more]);
}

/** The columns of a page that expansions begin with, and those of the key. */
function keysOf({ path, expansions }: ListPlan): readonly Sql[] {
  return [...expansions.map(({ from }) => name(from.name)), ...keyColumns(path.order)];
}
