import type { Column } from "../../project/model.js";
import type { CatalogTable } from "../../schema/catalog.js";
import type { ColumnType } from "../../sqlite/column-type.js";
import { type ColumnName, systemColumnName } from "../../sqlite/names.js";
import type { ListPlan } from "../plan/list-plan.js";
import type { Key, OrderTerm } from "../plan/order.js";
import type { Counted } from "../plan/plan-check.js";
import type { AggregateRequest, AggregateResult } from "../request/aggregate-request.js";
import { and, carried, commaList, integer, name, type Sql, sql, sum } from "../sql-text/fragment.js";
import { judgedSource } from "./list.js";
import { page as pageSlots } from "./page-slots.js";
import { behind, columnsOfAlias, orderBy } from "./place.js";
import { jsonArray, keyValue, realJson, shownValue, storedBytes } from "./wire.js";

/** How an aggregate is computed: everything that its SQL depends on. */
export interface AggregatePlan extends Pick<AggregateRequest, "groups" | "results" | "order"> {
  /** The plan by which rows are found and tested. Its window is the whole table. */
  readonly rows: ListPlan;
  /** The place after which the page begins: a value for each of `orderTerms`; null for the first page. */
  readonly after: Key | null;
}

/**
 * The statement that computes one page of groups. It is a single statement, so that all results are of the same moment,
 * and each candidate (a row that passes the conditions which the index serves) is read once. It reads at most one
 * candidate more than the scan limit. If it has read that one, some rows may be missing from the groups, which must
 * then not be answered. It returns one row with these columns:
 *
 * - `found`: how many groups were found, at most `limit + 1`;
 * - `rows`: these groups as a JSON array, each as an array of its values and results, in which a sum of integers is
 *   `["high", low]`, for `high * 2^32 + low`; NULL where there are none, or more bytes than an answer can hold;
 * - `last_key`: the key of the page's last group as a JSON array; NULL where no group was found beyond the page;
 * - `examined`: a JSON array `[candidates, rows that were looked up for an exists]`;
 * - `total`: the number of groups on all pages;
 * - `misfits`: a JSON array with the number of rows whose value is not of its column's type, for each of `fitted`;
 * - `links`: the number of rows that the ways have found on their way to the candidates; the scan limit counts them;
 * - `gate_visits`: the number of rows that were looked up for what is decided before any row of the table is read;
 * - `searched`: what was measured of the text that `contains` filters search (`SearchBudget.measured`).
 */
export function aggregateStatement(plan: AggregatePlan): Counted<Sql> {
  const { rows, groups, after } = plan;
  const { source, measured, judge } = judgedSource(rows);
  const { gate } = source;
  const physical = rows.catalog.tables.get(rows.table.name);
  const outputs = outputsOf(plan, physical);
  const columns = [
    ...outputs.flatMap(({ column }) => (column === null ? [] : [carried(column.name)])),
    ...judge.columns,
  ];
  const limitOfCandidates = source.ways === null ? integer(rows.scanLimit + 1) : sql`${source.ways.left} + 1`;
  const candidates = source.inAnyOrder(columns, judge.probes, gate.limited(limitOfCandidates));
  // Candidates that do not pass the conditions become groups of their own, without `_ok`, so that one pass over the
  // rows also counts them.
  const isJudged = rows.path.rest.length > 0 || (source.ways?.isFirst ?? null) !== null;
  const keys = [...(isJudged ? [sql`1`] : []), ...groups.map((column) => w(column))];
  const misfits = fitted(plan).map(
    ({ column, types }) => sql`count(*) FILTER (WHERE typeof(${w(column)}) NOT IN (${types}, 'null'))`,
  );
  const list = [
    sql`${isJudged ? sql`(${judge.passes}) IS TRUE` : sql`1`} AS _ok`,
    sql`count(*) AS _n`,
    sql`${judge.probed} AS _probed`,
    ...misfits.map((misfit, i) => sql`${misfit} AS ${misfitName(i)}`),
    ...outputs.flatMap(({ parts }, at) => parts.map((part, i) => sql`${part} AS ${name(partName(at, i))}`)),
  ];
  const grouped = sql`SELECT ${commaList(list)} FROM (${candidates}) AS _w${keys.length === 0 ? sql`` : sql` GROUP BY ${commaList(keys)}`}`;
  const order = orderTerms(plan, outputs);
  const inPage = and([sql`_ok`, ...(after === null ? [] : [behind(order, after, columnsOfAlias(sql`_g`))])]);
  const page = sql`SELECT * FROM _g WHERE ${inPage}${orderBy(order, columnsOfAlias(sql`_g`))} LIMIT ${limit} + 1`;
  const inRow = outputs.map(({ parts, shown }, at) => shown(parts.map((_, i) => pagePart(at, i))));
  const bytes = sum(outputs.map(({ parts, bytes }, at) => bytes(parts.map((_, i) => pagePart(at, i)))));
  const last = sql`SELECT ${keyOf(order)} FROM _page LIMIT 1 OFFSET ${limit} - 1`;
  const fits = sql`_size.bytes <= ${integer(rows.catalog.answerBytesMax)}`;
  const misfitSums = misfits.map((_, i) => sql`ifnull(sum(${misfitName(i)}) FILTER (WHERE _ok), 0)`);
  const misfitting = misfits.length === 0 ? sql`'[]'` : sql`(SELECT ${jsonArray(misfitSums)} FROM _g)`;
  const ctes = [...gate.ctes, sql`_g AS MATERIALIZED (${grouped})`, sql`_page AS MATERIALIZED (${page})`];
  const statement = sql`WITH ${commaList(ctes)} SELECT _size.found AS found, CASE WHEN ${fits} THEN (SELECT json_group_array(${jsonArray(inRow)}) FROM _page) END AS rows, CASE WHEN _size.found > ${limit} THEN (${last}) END AS last_key, (SELECT json_array(ifnull(sum(_n), 0), ifnull(sum(_probed), 0)) FROM _g) AS examined, (SELECT count(*) FROM _g WHERE _ok) AS total, ${misfitting} AS misfits, ${source.ways?.links ?? sql`0`} AS links, ${gate.visits} AS gate_visits, ${measured} AS searched FROM (SELECT sum(${bytes}) AS bytes, count(*) AS found FROM _page) AS _size`;
  return {
    statement,
    asked: statement,
    exact: gate.exact && source.exact && judge.exact,
    seeks: [...source.seeks, ...gate.seeks, ...judge.seeks],
  };
}

const { limit } = pageSlots;
const w = ({ name: column }: Pick<Column, "name">): Sql => sql`_w.${carried(column)}`;

/** A group column or a result of an aggregate, as SQL. */
interface Output {
  /** The column that the value is made of; null for `count=*`. */
  readonly column: Column | null;
  /** The SQL of one or two values that are computed from a group's rows, `_w`. They become columns of the group. */
  readonly parts: readonly Sql[];
  /**
   * The types of the parts by which groups are ordered, which are the first of `parts` or all of them; null for a part
   * whose values may be of any type.
   */
  readonly keyTypes: readonly (ColumnType | null)[];
  /** Makes the SQL of the value in JSON, given the SQL for each part. */
  readonly shown: (parts: readonly Sql[]) => Sql;
  /** Makes the SQL of how many bytes of stored text or blobs the value holds. */
  readonly bytes: (parts: readonly Sql[]) => Sql;
}

const partName = (at: number, part: number): ColumnName => systemColumnName(`_a${2 * at + part}`);
const misfitName = (i: number): Sql => name(systemColumnName(`_m${i}`));
const pagePart = (at: number, part: number): Sql => sql`_page.${name(partName(at, part))}`;

function outputsOf({ groups, results }: AggregatePlan, physical: CatalogTable | undefined): readonly Output[] {
  return [
    ...groups.map((column) => groupOutput(column, physical)),
    ...results.map((result) => resultOutput(result, physical)),
  ];
}

/**
 * A group by a column. Where equal values can differ (as `a` and `A` where the collation is NOCASE), the group is shown
 * by the least of its values: an integer before an equal real, and texts by their bytes.
 */
function groupOutput(column: Column, physical: CatalogTable | undefined): Output {
  const value = w(column);
  const only = columnOutput(column, value, physical);
  if (physical?.exactColumns.has(column.name)) return only;
  const least = sql`ifnull(min(${value}) FILTER (WHERE typeof(${value}) = 'integer'), min(${value} COLLATE BINARY))`;
  return {
    ...only,
    parts: [value, least],
    shown: ([, shown]) => only.shown([shown!]),
    bytes: ([, shown]) => only.bytes([shown!]),
  };
}

function resultOutput({ compute, column }: AggregateResult, physical: CatalogTable | undefined): Output {
  if (column === null) return countOutput(column, sql`count(*)`);
  const value = w(column);
  const { high, low } = integerSum(value);
  switch (compute) {
    case "count":
      return countOutput(column, sql`count(${value})`);
    case "count_distinct":
      return countOutput(column, sql`count(DISTINCT ${value})`);
    case "min":
    case "max":
      return columnOutput(column, extreme(compute, column, physical), physical);
    case "avg": {
      const total = column.type === "integer" ? sql`(${high} * 4294967296.0 + ${low})` : realSum(value);
      return realOutput(column, sql`${total} / count(${value})`);
    }
    case "sum":
      if (column.type === "real") return realOutput(column, realSum(value));
      return {
        column,
        parts: [sql`${high} + (${low} >> 32)`, sql`${low} & 4294967295`],
        keyTypes: ["integer", "integer"],
        shown: ([h, l]) => sql`CASE WHEN ${h!} IS NOT NULL THEN json_array(CAST(${h!} AS TEXT), ${l!}) END`,
        bytes: noBytes,
      };
  }
}

/** The output for a value that is one of a column's; `value` is its SQL. */
function columnOutput(column: Column, value: Sql, physical: CatalogTable | undefined): Output {
  const isLoose = physical === undefined || physical.affinities.has(column.name);
  return {
    column,
    parts: [value],
    keyTypes: [isLoose ? null : column.type],
    shown: ([ref]) => shownValue(column, ref!, physical),
    bytes: ([ref]) => storedBytes([column], () => ref!),
  };
}

function countOutput(column: Column | null, count: Sql): Output {
  return { column, parts: [count], keyTypes: ["integer"], shown: ([ref]) => ref!, bytes: noBytes };
}

function realOutput(column: Column, value: Sql): Output {
  return { column, parts: [value], keyTypes: ["real"], shown: ([ref]) => realJson(ref!), bytes: noBytes };
}

const noBytes = () => sql`0`;

/**
 * The sum of integers as two numbers, `high * 2^32 + low`. SQLite's own sum of the values would fail or become a real
 * where it needs more than 64 bits, whereas each of these stays far below that.
 */
function integerSum(value: Sql): { readonly high: Sql; readonly low: Sql } {
  return { high: sql`sum(${value} >> 32)`, low: sql`sum(${value} & 4294967295)` };
}

/** The sum of reals. Some may be stored as integers, where not STRICT, whose own sum could overflow. */
function realSum(value: Sql): Sql {
  return sql`sum(CAST(${value} AS REAL))`;
}

/**
 * The least or the greatest value of a column, as SQL. Texts are compared by their bytes, and an integer is preferred
 * to an equal real, so that there is only one such value.
 */
function extreme(compute: "min" | "max", column: Column, physical: CatalogTable | undefined): Sql {
  const value = w(column);
  const of = compute === "min" ? sql`min` : sql`max`;
  if (physical?.exactColumns.has(column.name)) return sql`${of}(${value})`;
  const any = sql`${of}(${value} COLLATE BINARY)`;
  const whole = sql`${of}(${value}) FILTER (WHERE typeof(${value}) = 'integer')`;
  return sql`CASE WHEN ${whole} = ${any} THEN ${whole} ELSE ${any} END`;
}

/** A term of the order of groups; `isTyped` tells whether all values of its column are of the column's type. */
interface GroupOrderTerm extends OrderTerm {
  readonly isTyped: boolean;
}

/** The order of groups, over their columns. A sum of integers is two columns, and so makes two terms. */
function orderTerms({ order }: AggregatePlan, outputs: readonly Output[]): readonly GroupOrderTerm[] {
  return order.flatMap(({ at, descending }) =>
    outputs[at]!.keyTypes.map((type, part) => ({
      column: { name: partName(at, part), type: type ?? "blob" },
      isTyped: type !== null,
      descending,
      nullable: true,
    })),
  );
}

/** The place of the group `_page` in the order of groups, as a JSON array for the cursor. */
function keyOf(order: readonly GroupOrderTerm[]): Sql {
  const values = order.map((term) =>
    keyValue(term, sql`_page.${name(term.column.name)}`, term.isTyped ? typed : undefined),
  );
  return jsonArray(values);
}

const typed = { affinities: new Map() };

/**
 * The columns that are summed or averaged and that may hold values other than numbers, because their table is not
 * STRICT, with the types that the values have to have.
 */
export function fitted({ rows, results }: AggregatePlan): readonly { readonly column: Column; readonly types: Sql }[] {
  const physical = rows.catalog.tables.get(rows.table.name);
  const columns = results.flatMap(({ compute, column }) =>
    (compute === "sum" || compute === "avg") && column !== null ? [column] : [],
  );
  return [...new Set(columns)]
    .filter(({ name }) => physical === undefined || physical.affinities.has(name))
    .map((column) => ({
      column,
      types: column.type === "integer" ? sql`'integer'` : sql`'integer', 'real'`,
    }));
}
