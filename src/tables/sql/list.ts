import type { Column } from "../../project/model.js";
import type { ColumnName } from "../../project/names.js";
import { equality } from "../access-path.js";
import type { Grouping, ListPlan } from "../list-plan.js";
import type { OrderTerm } from "../order.js";
import type { Counted, Seek } from "../plan-check.js";
import { armed, distinct, selectFrom, servedSql, tableSource } from "./candidates.js";
import {
  and,
  comma,
  type GivenValues,
  join,
  name,
  param,
  physicalName,
  Slot,
  type Sql,
  sql,
} from "./fragment.js";
import { type Gate, gateOf } from "./gate.js";
import { type Judge, judgeOf } from "./judge.js";
import { behind, columnsOfAlias, notBehind, orderBy, stopAt } from "./place.js";
import { jsonArray, jsonObject, storedBytes, wireValue } from "./wire.js";

const slot = (name: string) => param(new Slot(name));

/** Numbers of rows that differ from page to page. */
const page = {
  skip: slot("page.skip"),
  limit: slot("page.limit"),
  last: slot("page.last"),
  more: slot("page.more"),
  inWindow: slot("page.inWindow"),
};

/** What the slots of a page of `limit` rows behind `skip` others stand for. */
export function pageValues(limit: number, skip: number, scanLimit: number): GivenValues {
  return new Map([
    ["page.skip", BigInt(skip)],
    ["page.limit", BigInt(limit)],
    ["page.last", BigInt(limit - 1)],
    ["page.more", BigInt(limit + 1)],
    ["page.inWindow", BigInt(Math.max(0, Math.min(limit + 1, scanLimit - skip)))],
  ]);
}

/**
 * One page as one statement, so that the page and its total are of one moment. Its single row, in this order:
 *
 * - the page's rows as JSON with a row beyond them, if there is one, each behind `rowSeparator`; NULL where there are none or
 *   they are more than an answer can hold;
 * - how many authorized rows were found, at most `limit + 1`;
 * - the key of the page's last row as a JSON array, where a row beyond the page was found;
 * - what was counted in the window, where it was counted: the number of candidates, or as a JSON array
 *   `[candidates, authorized, probed]`, or as `groupedOr` has it;
 * - what the page examined as a JSON array `[candidates, probed]`; NULL where nobody asked, or where each candidate is
 *   authorized and numbers tell it;
 * - the rows that the gates' probes visited.
 *
 * `exact` is false where an `exists` examines a number of rows that nothing reports.
 */
export function listStatement(plan: ListPlan): Counted<Sql> {
  const parts = partsOf(plan);
  const { gate, order } = parts;
  const keys = order.map(({ column }) => wireValue(column, sql`_page.${name(column.name)}`));
  const ctes = [...gate.ctes, ...parts.ctes, sql`_page AS MATERIALIZED (${parts.page})`];
  const row = jsonObject(plan.output, ({ name: column }) => sql`_page.${name(column)}`);
  const bytes = storedBytes(plan.output, ({ name: column }) => sql`_page.${name(column)}`);
  const rows = sql`SELECT group_concat(${row}, ${param(rowSeparator)}) FROM _page`;
  const lastKey = sql`SELECT ${jsonArray(keys)} FROM _page LIMIT 1 OFFSET ${page.last}`;
  const fits = sql`_size.bytes <= ${param(BigInt(plan.catalog.answerBytesMax))}`;
  const statement = sql`WITH ${join(ctes, comma)} SELECT CASE WHEN ${fits} THEN (${rows}) END AS rows, _size.found AS found, CASE WHEN ${isPeeked} THEN (${lastKey}) END AS last_key, ${parts.counted} AS counted, ${parts.examined} AS examined, ${gate.visits} AS gate_visits FROM (SELECT sum(${bytes}) AS bytes, count(*) AS found FROM _page) AS _size`;
  return { statement, asked: statement, exact: parts.exact, seeks: [...ownSeek(plan), ...parts.seeks] };
}

/** JSON that SQLite makes has no line break elsewhere: in a text it is escaped. */
export const rowSeparator = ",\n";

/** Of the table itself, where it is not one that no hint can steer, and where SQLite does not know that there is no such row. */
function ownSeek({ path, table }: ListPlan): readonly Seek[] {
  const isNever = path.served.some(
    (condition) =>
      condition.kind === "filter" &&
      condition.filter.operator === "is_null" &&
      (condition.filter.column.notNull || table.primaryKey.includes(condition.filter.column.name)),
  );
  if (isNever) return [];
  const columns = path.served.flatMap((condition) =>
    condition.kind === "filter" ? [condition.filter.column.name] : (equality(condition)?.column ?? []),
  );
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
    sql`LIMIT ${param(BigInt(plan.scanLimit + 1))}`,
  );
  const keys = order.map(({ column }) => wireValue(column, sql`_w.${name(column.name)}`));
  return sql`SELECT ${jsonArray(keys)} FROM (${candidates}) AS _w LIMIT 2 OFFSET ${param(BigInt(plan.scanLimit - 1))}`;
}

/** How many bytes of a column the window's candidates hold, and how many they are: one row of two numbers. */
export function candidateBytesStatement(plan: ListPlan, column: Column): Sql {
  const source = selectFrom(plan, [name(column.name)]);
  const limit = sql`LIMIT ${param(BigInt(plan.scanLimit + 1))}`;
  const candidates = plan.path.ordered
    ? armed(plan, source, limit)
    : sql`${source} WHERE ${servedSql(plan.path.served)} ${limit}`;
  return sql`SELECT ifnull(sum(octet_length(_w.${name(column.name)})), 0) AS bytes, count(*) AS n FROM (${candidates}) AS _w`;
}

interface Parts {
  readonly gate: Gate;
  readonly order: readonly OrderTerm[];
  readonly ctes: readonly Sql[];
  readonly page: Sql;
  readonly counted: Sql;
  readonly examined: Sql;
  readonly exact: boolean;
  readonly seeks: readonly Seek[];
}

function partsOf(plan: ListPlan): Parts {
  if (!plan.path.ordered) return sortedParts(plan);
  return plan.path.rest.length === 0 ? unjudgedParts(plan) : judgedParts(plan);
}

const w = columnsOfAlias(sql`_w`);
/** Whether a row beyond the page was found. */
const isPeeked = sql`_size.found > ${page.limit}`;
const countedCte = (counted: Sql) => sql`_counted AS MATERIALIZED (SELECT (${counted}) AS counted)`;
const fromCounted = sql`(SELECT counted FROM _counted)`;

/** Candidates come in the order asked for, and each is authorized. */
function unjudgedParts(plan: ListPlan): Parts {
  const gate = gateOf(plan);
  const { order, served } = plan.path;
  const { window, rowid } = plan;
  const limitClause = sql`LIMIT ${gate.limited(param(BigInt(plan.scanLimit)))}`;
  const candidates = (columns: readonly Sql[]) => armed(plan, selectFrom(plan, columns), limitClause);
  const columns = pageColumns(plan);
  const isFirst = window.after === null;
  const rows = isFirst
    ? armed(plan, selectFrom(plan, columns), sql`LIMIT ${gate.limited(page.inWindow)} OFFSET ${page.skip}`)
    : sql`SELECT * FROM (${candidates(columns)}) LIMIT ${page.more} OFFSET ${page.skip}`;
  const count = () => {
    const all = gate.counted(sql`SELECT count(*) FROM ${tableSource(plan)} WHERE ${servedSql(served)}`);
    if (isFirst && served.length === 0) return all;
    const inWindow = sql`(SELECT count(*) FROM (${candidates([])}) AS _w)`;
    return isFirst && window.upTo === null && rowid !== null
      ? sql`CASE WHEN ${fitsIntoWindow(plan, rowid)} THEN ${all} ELSE ${inWindow} END`
      : inWindow;
  };
  const toTheEnd = sql`SELECT json_array(count(*), 0) FROM (${candidates([])}) AS _w`;
  return {
    gate,
    order,
    ctes: [],
    page: rows,
    counted: window.counted ? sql`NULL` : count(),
    examined: window.counted ? sql`CASE WHEN NOT ${isPeeked} THEN (${toTheEnd}) END` : sql`NULL`,
    exact: gate.exact,
    seeks: gate.seeks,
  };
}

/** Candidates come in the order asked for: the page ends the scan. */
function judgedParts(plan: ListPlan): Parts {
  const gate = gateOf(plan);
  const judge = judgeOf(plan, gate, []);
  const { order } = plan.path;
  const { window, scanLimit } = plan;
  const limitClause = sql`LIMIT ${gate.limited(param(BigInt(scanLimit)))}`;
  const from = (columns: readonly Sql[], stop: Sql | null) =>
    armed(plan, selectFrom(plan, columns, judge.probes), limitClause, stop);
  const rows = sql`SELECT ${join(
    pageColumns(plan).map((c) => sql`_w.${c}`),
    comma,
  )} FROM (${from(pageColumns(plan, judge.columns), null)}) AS _w WHERE ${judge.passes} LIMIT ${page.more} OFFSET ${page.skip}`;
  const judged = (stop: Sql | null) => from([...judge.columns, ...keyColumns(order)], stop);
  const peek = (column: OrderTerm["column"]) => sql`(SELECT ${name(column.name)} FROM _peeked)`;
  const count = () =>
    plan.grouping === null
      ? sql`SELECT json_array(count(*), count(*) FILTER (WHERE ${judge.passes}), ${judge.probed}) FROM (${judged(null)}) AS _w`
      : groupedOr(judged(null), plan, plan.grouping, gate, judge);
  const all = window.counted
    ? sql`SELECT json_array(count(*), ${judge.probed}) FROM (${judged(null)}) AS _w`
    : sql`SELECT json_array(min(counted ->> 0, ${param(BigInt(scanLimit))}), ifnull(counted ->> 4, counted ->> 2)) FROM _counted`;
  const upToPeeked = sql`SELECT json_array(count(*), ${judge.probed}) FROM (${judged(stopAt(order, columnsOfAlias(sql`_t`), peek))}) AS _w WHERE ${notBehind(order, w, peek)}`;
  const whenPeeked = plan.metered ? sql`(${upToPeeked})` : sql`NULL`;
  return {
    gate,
    order,
    ctes: [
      ...(window.counted ? [] : [countedCte(count())]),
      sql`_peeked AS (SELECT * FROM _page LIMIT 1 OFFSET ${page.limit})`,
    ],
    page: rows,
    counted: window.counted ? sql`NULL` : fromCounted,
    examined: sql`CASE WHEN ${isPeeked} THEN ${whenPeeked} ELSE (${all}) END`,
    exact: gate.exact && judge.exact,
    seeks: [...gate.seeks, ...judge.seeks],
  };
}

/** Candidates have to be sorted: all of them are examined, and there may be no more of them than `scanLimit`. */
function sortedParts(plan: ListPlan): Parts {
  const gate = gateOf(plan);
  const { order } = plan.path;
  const { window, scanLimit } = plan;
  const place = window.after === null ? null : { order, key: window.after };
  const t = columnsOfAlias(sql`_t`);
  const judge = judgeOf(plan, gate, place === null ? [] : [behind(order, place.key, t)]);
  const passes = place === null ? judge.passes : and([behind(order, place.key, w), judge.passes]);
  const from = (columns: readonly Sql[], limitClause: Sql) =>
    sql`${selectFrom(plan, columns, judge.probes)} WHERE ${servedSql(plan.path.served)} ${limitClause}`;
  const countLimit = sql`LIMIT ${gate.limited(param(BigInt(scanLimit + 1)))}`;
  const counted = sql`SELECT json_array(count(*), count(*) FILTER (WHERE ${passes}), ${judge.probed}) FROM (${from([...judge.columns, ...keyColumns(order)], countLimit)}) AS _w`;
  const few = sql`CASE WHEN (SELECT counted ->> 0 FROM _counted) <= ${param(BigInt(scanLimit))} THEN -1 ELSE 0 END`;
  // Behind a closed gate nothing is counted, which is few as well.
  const guard = sql`LIMIT ${gate.limited(few)}`;
  const rows = sql`SELECT ${join(
    pageColumns(plan).map((c) => sql`_w.${c}`),
    comma,
  )} FROM (${from(pageColumns(plan, judge.columns), guard)}) AS _w WHERE ${passes}${orderBy(order, w)} LIMIT ${page.more} OFFSET ${page.skip}`;
  return {
    gate,
    order,
    ctes: [countedCte(counted)],
    page: rows,
    counted: window.counted ? sql`NULL` : fromCounted,
    examined: sql`(SELECT json_array(counted ->> 0, counted ->> 2) FROM _counted)`,
    exact: gate.exact && judge.exact,
    seeks: [...gate.seeks, ...judge.seeks],
  };
}

/**
 * Whether the table's first and last rowid are so close that no window ends in it. The server asks for its own sake, so
 * that these two are no reads of the request.
 */
function fitsIntoWindow({ table, scanLimit }: ListPlan, rowid: ColumnName): Sql {
  const end = (which: Sql) => sql`(SELECT ${which}(_e.${name(rowid)}) FROM ${name(table.name)} AS _e)`;
  return sql`${end(sql`max`)} - ${end(sql`min`)} < ${param(BigInt(scanLimit))}`;
}

/**
 * The count of a whole table where no window ends in it: along an index, candidates that are alike are judged once. It
 * tells `[candidates, authorized, probed, whether so, probed if each had been judged by itself]`, as the page does.
 */
function groupedOr(
  judged: Sql,
  plan: ListPlan,
  { index, columns, rowid }: Grouping,
  gate: Gate,
  judge: Judge,
): Sql {
  const keys = columns.map((column) => sql`_t.${name(column)}`);
  const list = [
    sql`count(*) AS _n`,
    ...keys.map((key, i) => sql`${key} AS ${name(columns[i]!)}`),
    ...judge.probes,
  ];
  const groups = sql`SELECT ${join(list, comma)} FROM ${name(plan.table.name)} AS _t INDEXED BY ${physicalName(index.name)} GROUP BY ${join(keys, comma)} LIMIT ${gate.limited(param(-1n))}`;
  const authorized = sql`ifnull(sum(_w._n) FILTER (WHERE ${judge.passes}), 0)`;
  const grouped = sql`SELECT json_array(ifnull(sum(_w._n), 0), ${authorized}, ${judge.probed}, 1, ${judge.probedEach}) FROM (${groups}) AS _w`;
  const oneByOne = sql`SELECT json_array(count(*), count(*) FILTER (WHERE ${judge.passes}), ${judge.probed}) FROM (${judged}) AS _w`;
  return sql`SELECT CASE WHEN ${fitsIntoWindow(plan, rowid)} THEN (${grouped}) ELSE (${oneByOne}) END`;
}

function keyColumns(order: readonly OrderTerm[]): readonly Sql[] {
  return order.map(({ column }) => name(column.name));
}

/** Columns that the page keeps: what goes out, and the key. */
function pageColumns({ output, path }: ListPlan, more: readonly Sql[] = []): readonly Sql[] {
  return distinct([...output.map((column) => name(column.name)), ...keyColumns(path.order), ...more]);
}
