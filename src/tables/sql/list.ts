import { columnsOf } from "../../rules/walk.js";
import type { ColumnName } from "../../sqlite/names.js";
import { isUnjudged } from "../list/access-path.js";
import type { Grouping, ListPlan } from "../list/list-plan.js";
import type { OrderTerm } from "../list/order.js";
import type { Counted, Seek } from "../plan-check.js";
import { armed, distinct, selectFrom, servedSql, tableSource } from "./candidates.js";
import {
  and,
  commaList,
  integer,
  name,
  param,
  physicalName,
  Slot,
  type SlotValues,
  type Sql,
  sql,
} from "./fragment.js";
import { type Gate, gateOf } from "./gate.js";
import { type Judge, judgeOf } from "./judge.js";
import { behind, columnsOfAlias, notBehind, orderBy, type Refer, stopAt } from "./place.js";
import { jsonArray, jsonObject, keyValue, storedBytes } from "./wire.js";

const slot = (name: string) => param(new Slot(name));

/** Numbers of rows that differ from page to page. */
const page = {
  skip: slot("page.skip"),
  limit: slot("page.limit"),
};

/** What the slots of a page of `limit` rows behind `skip` others stand for. */
export function pageValues(limit: number, skip: number): SlotValues {
  return new Map([
    ["page.skip", BigInt(skip)],
    ["page.limit", BigInt(limit)],
  ]);
}

/**
 * One page as one statement, so that the page and its total are of one moment. Its single row, in this order:
 *
 * - how many authorized rows were found, at most `limit + 1`;
 * - the page's rows as JSON with a row beyond them, if there is one, each behind `rowSeparator`; NULL where there are none or
 *   they are more than an answer can hold;
 * - the key of the page's last row as a JSON array, where a row beyond the page was found;
 * - what was counted in the window, where it was counted: the number of candidates, or as a JSON array
 *   `[candidates, authorized, probed]`, or as `groupedOr` has it;
 * - what the page examined: the number of candidates, or as a JSON array `[candidates, probed]`; NULL where nobody asked, or
 *   where each candidate is authorized and the numbers before tell it;
 * - the rows that the gates' probes visited.
 *
 * `exact` is false where an `exists` examines a number of rows that nothing reports.
 */
export function listStatement(plan: ListPlan): Counted<Sql> {
  const { order, ordered } = plan.path;
  const gate = gateOf(plan);
  const judge = judgeOf(plan, gate, behindPage(plan, columnsOfAlias(sql`_t`)));
  const partsOf = isUnjudged(plan.path) ? unjudgedParts : ordered ? judgedParts : sortedParts;
  const parts = partsOf(plan, gate, judge);
  const ctes = [...gate.ctes, ...parts.ctes, sql`_page AS MATERIALIZED (${parts.page})`];
  const physical = plan.catalog.tables.get(plan.table.name);
  const keys = order.map((term) => keyValue(term, sql`_page.${name(term.column.name)}`, physical));
  const row = jsonObject(plan.output, ({ name: column }) => sql`_page.${name(column)}`, physical);
  const bytes = storedBytes(plan.output, ({ name: column }) => sql`_page.${name(column)}`);
  const rows = sql`SELECT group_concat(${row}, ${separator}) FROM _page`;
  const lastKey = sql`SELECT ${jsonArray(keys)} FROM _page LIMIT 1 OFFSET ${page.limit} - 1`;
  const fits = sql`_size.bytes <= ${integer(plan.catalog.answerBytesMax)}`;
  const counted = plan.window.counted ? sql`NULL` : parts.counted;
  const statement = sql`WITH ${commaList(ctes)} SELECT _size.found AS found, CASE WHEN ${fits} THEN (${rows}) END AS rows, CASE WHEN ${isPeeked} THEN (${lastKey}) END AS last_key, ${counted} AS counted, ${parts.examined} AS examined, ${gate.visits} AS gate_visits FROM (SELECT sum(${bytes}) AS bytes, count(*) AS found FROM _page) AS _size`;
  return {
    statement,
    asked: statement,
    exact: gate.exact && judge.exact,
    seeks: [...ownSeek(plan), ...gate.seeks, ...judge.seeks],
  };
}

/** JSON that SQLite makes has no line break elsewhere: in a text it is escaped. */
export const rowSeparator = ",\n";
const separator: Sql = { text: `'${rowSeparator}'`, params: [] };

/** Of the table itself, where it is not one that no hint can steer, and where SQLite does not know that there is no such row. */
function ownSeek({ path, table }: ListPlan): readonly Seek[] {
  const isNeverNull = (column: ColumnName) =>
    table.columns.get(column)?.notNull || table.primaryKey.includes(column);
  const isNever = path.served.some(
    (condition) => condition.kind === "is_null" && [...columnsOf(condition, "row")].some(isNeverNull),
  );
  if (isNever) return [];
  const columns = path.served.flatMap((condition) => [...columnsOf(condition, "row")]);
  return path.steered ? [{ alias: "_t", columns }] : [];
}

/**
 * The last candidate that the window reaches and whether one comes behind it: one or two rows of a JSON array, none
 * where the window reaches the end. For a window that may have ended first.
 */
export function windowEndStatement(plan: ListPlan): Sql {
  const { order } = plan.path;
  const candidates = armed(
    plan,
    selectFrom(plan, keyColumns(order)),
    sql`LIMIT ${integer(plan.scanLimit + 1)}`,
  );
  const physical = plan.catalog.tables.get(plan.table.name);
  const keys = order.map((term) => keyValue(term, sql`_w.${name(term.column.name)}`, physical));
  return sql`SELECT ${jsonArray(keys)} FROM (${candidates}) AS _w LIMIT 2 OFFSET ${integer(plan.scanLimit - 1)}`;
}

/** How many bytes of a column the window's candidates hold, and how many they are: one row of two numbers. */
export function candidateBytesStatement(plan: ListPlan, column: ColumnName): Sql {
  const source = selectFrom(plan, [name(column)]);
  const limit = sql`LIMIT ${integer(plan.scanLimit + 1)}`;
  const candidates = plan.path.ordered
    ? armed(plan, source, limit)
    : sql`${source} WHERE ${servedSql(plan.path.served)} ${limit}`;
  return sql`SELECT ifnull(sum(octet_length(_w.${name(column)})), 0) AS bytes, count(*) AS n FROM (${candidates}) AS _w`;
}

interface Parts {
  readonly ctes: readonly Sql[];
  readonly page: Sql;
  readonly counted: Sql;
  readonly examined: Sql;
}

const w = columnsOfAlias(sql`_w`);
/** Whether a row beyond the page was found. */
const isPeeked = sql`_size.found > ${page.limit}`;
const countedCte = (counted: Sql) => sql`_counted AS MATERIALIZED (SELECT (${counted}) AS counted)`;
const fromCounted = sql`(SELECT counted FROM _counted)`;

/** Candidates come in the order asked for, and each is authorized. */
function unjudgedParts(plan: ListPlan, gate: Gate): Parts {
  const { window } = plan;
  const columns = pageColumns(plan);
  const candidates = (list: readonly Sql[]) => armed(plan, selectFrom(plan, list), scanLimited(plan, gate));
  const inWindow = sql`(SELECT count(*) FROM (${candidates([])}) AS _w)`;
  const isFirst = window.after === null;
  const leftInWindow = sql`max(0, min(${page.limit} + 1, ${integer(plan.scanLimit)} - ${page.skip}))`;
  return {
    ctes: [],
    page: isFirst
      ? armed(plan, selectFrom(plan, columns), sql`LIMIT ${gate.limited(leftInWindow)} OFFSET ${page.skip}`)
      : pageOf(plan, candidates(columns), sql`1`),
    counted: isFirst ? firstCount(plan, gate, inWindow) : inWindow,
    examined: window.counted ? sql`CASE WHEN NOT ${isPeeked} THEN ${inWindow} END` : sql`NULL`,
  };
}

/** Without a limit where there is no condition, and where no window can end in the table. */
function firstCount(plan: ListPlan, gate: Gate, inWindow: Sql): Sql {
  const { served } = plan.path;
  if (served.length === 0) return gate.counted(sql`SELECT count(*) FROM ${wholeTable(plan)}`);
  const all = gate.counted(sql`SELECT count(*) FROM ${tableSource(plan)} WHERE ${servedSql(served)}`);
  return sql`CASE WHEN ${fitsIntoWindow(plan)} THEN ${all} ELSE ${inWindow} END`;
}

/** Counted by any of its indexes, unless there may be one whose collation is not there. */
function wholeTable({ catalog, table }: ListPlan): Sql {
  const isCollated = (catalog.unsupported.columns.get(table.name)?.size ?? 0) > 0;
  return isCollated ? sql`${name(table.name)} NOT INDEXED` : name(table.name);
}

/** Candidates come in the order asked for: the page ends the scan. */
function judgedParts(plan: ListPlan, gate: Gate, judge: Judge): Parts {
  const { order } = plan.path;
  const { window, grouping } = plan;
  const from = (columns: readonly Sql[], stop: Sql | null) =>
    armed(plan, selectFrom(plan, columns, judge.probes), scanLimited(plan, gate), stop);
  const judged = (stop: Sql | null) => from([...judge.columns, ...keyColumns(order)], stop);
  const peek = (column: OrderTerm["column"]) => sql`(SELECT ${name(column.name)} FROM _peeked)`;
  const oneByOne = countOf(judged(null), judge.passes, judge);
  const counted = grouping === null ? oneByOne : groupedOr(oneByOne, plan, grouping, gate, judge);
  const visits = (stop: Sql | null, where: Sql) =>
    sql`SELECT json_array(count(*), ${judge.probed}) FROM (${judged(stop)}) AS _w WHERE ${where}`;
  const all = window.counted
    ? visits(null, sql`1`)
    : sql`SELECT json_array(min(counted ->> 0, ${integer(plan.scanLimit)}), ifnull(counted ->> 4, counted ->> 2)) FROM _counted`;
  const upToPeeked = visits(stopAt(order, columnsOfAlias(sql`_t`), peek), notBehind(order, w, peek));
  const whenPeeked = plan.metered ? sql`(${upToPeeked})` : sql`NULL`;
  return {
    ctes: [
      ...(window.counted ? [] : [countedCte(counted)]),
      sql`_peeked AS (SELECT * FROM _page LIMIT 1 OFFSET ${page.limit})`,
    ],
    page: pageOf(plan, from(pageColumns(plan, judge.columns), null), judge.passes),
    counted: fromCounted,
    examined: sql`CASE WHEN ${isPeeked} THEN ${whenPeeked} ELSE (${all}) END`,
  };
}

/** Candidates have to be sorted: all of them are examined, and there may be no more of them than `scanLimit`. */
function sortedParts(plan: ListPlan, gate: Gate, judge: Judge): Parts {
  const { order, served } = plan.path;
  const { scanLimit } = plan;
  const passes = and([...behindPage(plan, w), judge.passes]);
  const from = (columns: readonly Sql[], limit: Sql) =>
    sql`${selectFrom(plan, columns, judge.probes)} WHERE ${servedSql(served)} LIMIT ${gate.limited(limit)}`;
  const counted = from([...judge.columns, ...keyColumns(order)], integer(scanLimit + 1));
  // Behind a closed gate nothing is counted, which is few as well.
  const few = sql`CASE WHEN (SELECT counted ->> 0 FROM _counted) <= ${integer(scanLimit)} THEN -1 ELSE 0 END`;
  return {
    ctes: [countedCte(countOf(counted, passes, judge))],
    page: pageOf(plan, from(pageColumns(plan, judge.columns), few), sql`${passes}${orderBy(order, w)}`),
    counted: fromCounted,
    examined: sql`(SELECT json_array(counted ->> 0, counted ->> 2) FROM _counted)`,
  };
}

/** Where candidates come in another order, those behind the page before have to be told apart. */
function behindPage({ path, window }: ListPlan, refer: Refer): readonly Sql[] {
  return path.ordered || window.after === null ? [] : [behind(path.order, window.after, refer)];
}

function scanLimited({ scanLimit }: ListPlan, gate: Gate): Sql {
  return sql`LIMIT ${gate.limited(integer(scanLimit))}`;
}

function pageOf(plan: ListPlan, candidates: Sql, passes: Sql): Sql {
  const columns = pageColumns(plan).map((column) => sql`_w.${column}`);
  return sql`SELECT ${commaList(columns)} FROM (${candidates}) AS _w WHERE ${passes} LIMIT ${page.limit} + 1 OFFSET ${page.skip}`;
}

/** `[candidates, authorized, probed]`. */
function countOf(candidates: Sql, passes: Sql, judge: Judge): Sql {
  return sql`SELECT json_array(count(*), count(*) FILTER (WHERE ${passes}), ${judge.probed}) FROM (${candidates}) AS _w`;
}

/**
 * Whether the table's first and last rowid are so close that no window ends in it. The server asks for its own sake, so
 * that these two are no reads of the request.
 */
function fitsIntoWindow({ table, catalog, scanLimit }: ListPlan): Sql {
  const rowid = catalog.tables.get(table.name)?.rowid ?? null;
  // WITHOUT ROWID nobody knows.
  if (rowid === null) return sql`0`;
  const end = (which: Sql) => sql`(SELECT ${which}(_e.${name(rowid)}) FROM ${name(table.name)} AS _e)`;
  return sql`${end(sql`max`)} - ${end(sql`min`)} < ${integer(scanLimit)}`;
}

/**
 * The count of a whole table where no window ends in it: along an index, candidates that are alike are judged once, and it
 * tells `[candidates, authorized, probed, 1, probed if each had been judged by itself]`, as the page does. Else `oneByOne`.
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
  return sql`SELECT CASE WHEN ${fitsIntoWindow(plan)} THEN (${grouped}) ELSE (${oneByOne}) END`;
}

function keyColumns(order: readonly OrderTerm[]): readonly Sql[] {
  return order.map(({ column }) => name(column.name));
}

/** Columns that the page keeps: what goes out, and the key. */
function pageColumns({ output, path }: ListPlan, more: readonly Sql[] = []): readonly Sql[] {
  return distinct([...output.map((column) => name(column.name)), ...keyColumns(path.order), ...more]);
}
