import type { Grouping, ListPlan } from "../plan/list-plan.js";
import { carried, commaList, integer, name, physicalName, type Sql, sql } from "../sql-text/fragment.js";
import { type CandidateSource, servedSql, tableSource, type WaysSource } from "./candidates.js";
import type { Gate } from "./gate.js";
import type { Judge } from "./judge.js";

/**
 * Returns the ways of a list if the rows that they lead to are counted before the page is read; else null. They are
 * counted in no order, which is much quicker than in the list's order, and only for a list's first window. If there are
 * more rows than the scan limit, no page is read, and the list is then read in windows or by an index instead.
 */
export function countedWays({ window, choice }: ListPlan, { ways }: CandidateSource): WaysSource | null {
  return choice === "windows" || window.counted || window.after !== null || window.upTo !== null ? null : ways;
}

/**
 * Makes the SELECT that counts the rows that ways lead to, before the page is read. It returns the JSON array of
 * `counted` (see `listStatement`), with a fourth item of 1 where all of these rows were counted and 0 where there are
 * more than the scan limit.
 */
export function wayCount(
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
 * Makes the SELECT that counts the rows that ways lead to, where no condition is left to test, so that all of them are
 * in the list. In a small table the rows are counted without a limit, which is quicker.
 */
export function unjudgedWayCount(plan: ListPlan, { gate, inAnyOrder }: CandidateSource, { left }: WaysSource): Sql {
  const all = gate.counted(sql`SELECT count(*) FROM (${inAnyOrder([], [], null)}) AS _w`);
  const limited = sql`(SELECT count(*) FROM (${inAnyOrder([], [], gate.limited(sql`${left} + 1`))}) AS _w)`;
  const counted = sql`CASE WHEN ${hasFewerRowids(plan, plan.scanLimit)} THEN ${all} ELSE ${limited} END`;
  return sql`SELECT json_array(n, n, 0, n <= ${left}) FROM (SELECT ${counted} AS n)`;
}

/** Makes the expression for the LIMIT of a window's candidates: the scan limit, or 0 where no row is to be read. */
export function scanLimit(plan: ListPlan, source: CandidateSource): Sql {
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
export function firstCount(plan: ListPlan, gate: Gate, inWindow: Sql): Sql {
  const { briefTableMax, scanLimit } = plan;
  const { served } = plan.path;
  const counted = served.length === 0 ? wholeTable(plan) : sql`${tableSource(plan)} WHERE ${servedSql(served)}`;
  if (briefTableMax !== null) {
    const all = gate.counted(sql`SELECT json_array(count(*), count(*), 0, 1) FROM ${counted}`);
    return sql`CASE WHEN ${hasFewerRowids(plan, briefTableMax)} THEN ${all} ELSE ${inWindow} END`;
  }
  const all = gate.counted(sql`SELECT count(*) FROM ${counted}`);
  return served.length === 0 ? all : sql`CASE WHEN ${hasFewerRowids(plan, scanLimit)} THEN ${all} ELSE ${inWindow} END`;
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
 * Makes a SELECT that counts a window: a JSON array of how many candidates it has, how many of them are in the list,
 * and how many rows were looked up for an `exists`.
 */
export function countOf(candidates: Sql, passes: Sql, judge: Judge): Sql {
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
export function groupedOr(oneByOne: Sql, plan: ListPlan, { index, columns }: Grouping, gate: Gate, judge: Judge): Sql {
  const keys = columns.map((column) => sql`_t.${name(column)}`);
  const list = [sql`count(*) AS _n`, ...keys.map((key, i) => sql`${key} AS ${carried(columns[i]!)}`), ...judge.probes];
  const groups = sql`SELECT ${commaList(list)} FROM ${name(plan.table.name)} AS _t INDEXED BY ${physicalName(index.name)} GROUP BY ${commaList(keys)} LIMIT ${gate.limited(sql`-1`)}`;
  const authorized = sql`ifnull(sum(_w._n) FILTER (WHERE ${judge.passes}), 0)`;
  const grouped = sql`SELECT json_array(ifnull(sum(_w._n), 0), ${authorized}, ${judge.probed}, 1, ${judge.probedEach}) FROM (${groups}) AS _w`;
  return sql`SELECT CASE WHEN ${hasFewerRowids(plan, plan.scanLimit)} THEN (${grouped}) ELSE (${oneByOne}) END`;
}
