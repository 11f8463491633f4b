import type { Table } from "../../project/model.js";
import type { Expression } from "../../rules/ast.js";
import { columnsOf } from "../../rules/walk.js";
import type { Catalog, CatalogIndex } from "../../schema/catalog.js";
import type { ColumnName } from "../../sqlite/names.js";
import { boundOf } from "../plan/access-path.js";
import type { ListPlan } from "../plan/list-plan.js";
import type { Seek } from "../plan/plan-check.js";
import {
  and,
  commaList,
  empty,
  indexedBy,
  join,
  name,
  physicalName,
  type Sql,
  sql,
  stored,
} from "../sql-text/fragment.js";
import type { Gate } from "./gate.js";
import {
  type Arm,
  armsBehind,
  columnsOfTable,
  notBehind,
  orderBy,
  placeIn,
  placeOf,
  type Refer,
  stopAt,
} from "./place.js";
import { noNames, predicate, type SqlNames } from "./predicate.js";
import { bytesColumn, shortRows, soughtBytes } from "./wide-values.js";

/**
 * Where a list's statement gets its candidates from: the rows that an index, the table or the list's ways offer, before
 * any of them is tested. The parameter `more` of its methods has further expressions for the SELECT list, over the
 * table's alias `_t` and with their names.
 */
export interface CandidateSource {
  /** What the list's statement decides once, before any row is read. */
  readonly gate: Gate;
  /** A SELECT of candidates with these columns, in no order. `limit` is SQL; null for all of them. */
  inAnyOrder(columns: readonly Sql[], more: readonly Sql[], limit: Sql | null): Sql;
  /**
   * A SELECT of the window's candidates with these columns, in the list's order. `limitClause` has LIMIT, and maybe
   * OFFSET. `until`, if not null, is a table for a FROM with one row: a place in the order after which no row is
   * needed. Ways then offer no row after that place; an index may still offer some.
   */
  inOrder(columns: readonly Sql[], more: readonly Sql[], limitClause: Sql, until: Sql | null): Sql;
  /** What only ways have; null where the list has no ways. */
  readonly ways: WaysSource | null;
  /** Gives the SQL for a column of the list's order, of the candidate `_t`. */
  readonly refer: Refer;
  readonly exact: boolean;
  /** How SQLite is expected to find the candidates, for the check of its query plan. */
  readonly seeks: readonly Seek[];
}

/** What is particular to candidates that ways lead to. */
export interface WaysSource {
  /** The SQL for how many rows the ways have found on their way to the listed table. */
  readonly links: Sql;
  /** How many candidates the scan limit still allows: those that `links` counts are subtracted. */
  readonly left: Sql;
  /** The condition that no earlier way leads to the candidate `_t`, too. Null where there is one way. */
  readonly isFirst: Sql | null;
}

/** The candidates of a list that an index or the table itself offers. */
export function searchSource(plan: ListPlan, gate: Gate): CandidateSource {
  const { path } = plan;
  return {
    gate,
    inAnyOrder: (columns, more, limit) =>
      sql`${selectFrom(plan, columns, more)} WHERE ${and([servedSql(path.served), ...shortRows(plan, sql`_t`, columns)])}${limitOf(limit)}`,
    inOrder: (columns, more, limitClause, until) => {
      const stop = until === null ? null : stopAt(path.order, columnsOfTable(sql`_t`), placeIn(until));
      const bounds = [...(stop === null ? [] : [stop]), ...shortRows(plan, sql`_t`, columns)];
      return armed(plan, selectFrom(plan, columns, more), limitClause, bounds);
    },
    ways: null,
    refer: columnsOfTable(sql`_t`),
    exact: true,
    seeks: ownSeek(plan),
  };
}

/**
 * How SQLite is expected to find the rows of the listed table: by an index with the columns of the conditions that it
 * serves. Empty for virtual tables, for which SQL cannot name an index, and where SQLite knows that there is no row, as
 * with `IS NULL` of a NOT NULL column: its plan then does not mention the table.
 */
function ownSeek({ path, table }: ListPlan): readonly Seek[] {
  const isNeverNull = (column: ColumnName) => table.columns.get(column)?.notNull || table.primaryKey.includes(column);
  const isNever = path.served.some(
    (condition) => condition.kind === "is_null" && [...columnsOf(condition, "row")].some(isNeverNull),
  );
  if (isNever) return [];
  const columns = path.served.flatMap((condition) => [...columnsOf(condition, "row")]);
  return path.steered ? [{ alias: "_t", columns }] : [];
}

/** Columns without repetitions. Two are the same where their SQL is the same text. */
export function distinct(columns: readonly Sql[]): readonly Sql[] {
  return [...new Map(columns.map((column) => [column.text, column])).values()];
}

/** Makes `SELECT columns FROM table` for the rows that a list examines. The caller adds the WHERE. */
function selectFrom(plan: ListPlan, columns: readonly Sql[], more: readonly Sql[]): Sql {
  return sql`SELECT ${selectList(plan, columns, more)} FROM ${tableSource(plan)}`;
}

/**
 * Makes the list of a SELECT of these columns of `_t` and `more`, expressions with their names. Columns are written with
 * the alias, because SQLite reads a bare name in double quotes as a text where there is no such column.
 */
export function selectList(
  plan: ListPlan,
  columns: readonly Sql[],
  more: readonly Sql[],
  shown = (column: Sql) => selected(plan, sql`_t`, column),
): Sql {
  const list = [...distinct(columns).map(shown), ...more];
  return list.length === 0 ? sql`1` : commaList(list);
}

/** Makes `alias.column AS column` for the SELECT list of a list's rows, or the size of a row for `bytesColumn`. */
export function selected(plan: ListPlan, alias: Sql, column: Sql): Sql {
  return column === bytesColumn
    ? sql`${soughtBytes(plan, alias)} AS ${column}`
    : shownColumn(plan.catalog, plan.table, alias, column);
}

/**
 * Makes `alias.column AS column` for the SELECT list of a subquery, where `column` has the name that it has there. Adds COLLATE BINARY where this database lacks the
 * column's own collation, because SQLite has to know a collation for each column of a subquery.
 */
export function shownColumn({ unsupported }: Catalog, table: Table, alias: Sql, column: Sql): Sql {
  const incomparable = [...(unsupported.columns.get(table.name)?.keys() ?? [])];
  const isBare = incomparable.some((each) => physicalName(each).text === stored(column).text);
  return sql`${alias}.${stored(column)}${isBare ? sql` COLLATE BINARY` : empty} AS ${column}`;
}

/**
 * The listed table as `_t` in a FROM, with a clause that makes SQLite use the index of the list's plan and no other
 * (INDEXED BY, or NOT INDEXED); a virtual table gets no such clause.
 */
export function tableSource({ table, path }: ListPlan): Sql {
  const from = sql`${name(table.name)} AS _t`;
  return path.steered ? sql`${from} ${indexedBy(path.index)}` : from;
}

/**
 * Adds to `select` what makes it return the rows of a window in the list's order. Where the window begins after a key,
 * there is one SELECT for each range of rows after that key (`Arm`), so that SQLite seeks each range. `limitClause`
 * limits each SELECT and all of them together. `also` are further conditions on each row, such as one that `stopAt`
 * makes, which ends the scan before the window's own end.
 */
function armed(plan: ListPlan, select: Sql, limitClause: Sql, also: readonly Sql[]): Sql {
  const { path, window } = plan;
  const t = columnsOfTable(sql`_t`);
  const bounds = [...also];
  if (window.upTo !== null) {
    const place = placeOf(path.order, window.upTo);
    const coarse = stopAt(path.order, t, place);
    bounds.push(...(coarse === null ? [] : [coarse]), notBehind(path.order, t, place));
  }
  const order = orderBy(path.order, t);
  if (window.after === null)
    return sql`${select} WHERE ${and([servedSql(path.served), ...bounds])}${order} ${limitClause}`;
  const arms = armsBehind(path.order, window.after, t).filter((arm) => !isShutOut(plan, arm));
  const selects = arms.map((arm) => {
    const served = servedSql(path.served.filter((condition) => !isImplied(plan, arm, condition)));
    return sql`${select} WHERE ${and([served, arm.condition, ...bounds])}${order} ${limitClause}`;
  });
  if (selects.length === 0) return sql`${select} WHERE 0`;
  return concatenated(selects, limitClause);
}

/** A table in a FROM under an alias, which SQLite searches by this index; by none where it is null. */
export function searched({ table }: { readonly table: Table }, index: CatalogIndex | null, alias: Sql): Sql {
  return sql`${name(table.name)} AS ${alias} ${indexedBy(index)}`;
}

/** A clause LIMIT with a space before it; empty for no limit. */
export function limitOf(limit: Sql | null): Sql {
  return limit === null ? empty : sql` LIMIT ${limit}`;
}

/** How many SELECTs a compound SELECT (with UNION ALL) may have on D1. */
const compoundTermsMax = 5;

/**
 * Joins SELECTs into one that returns all their rows, one SELECT after the other. Where there are more than D1 allows
 * in a compound SELECT, some are put together in subqueries. These nest no deeper than they must, because SQLite's
 * parser has a limit, too. `limitClause` limits the rows of several SELECTs together, and is not added to one alone;
 * empty for none.
 */
export function concatenated(selects: readonly Sql[], limitClause: Sql): Sql {
  const [only, ...others] = selects;
  if (only !== undefined && others.length === 0) return only;
  const size = Math.ceil(selects.length / compoundTermsMax);
  const terms: Sql[] = [];
  for (let i = 0; i < selects.length; i += size) terms.push(concatenated(selects.slice(i, i + size), empty));
  const wrapped = terms.map((term) => sql`SELECT * FROM (${term})`);
  return sql`${join(wrapped, sql` UNION ALL `)}${limitClause.text === "" ? empty : sql` ${limitClause}`}`;
}

/** The conditions that the list's index serves, as SQL over the table's alias `_t`. */
export function servedSql(served: readonly Expression[]): Sql {
  const names: SqlNames = { ...noNames, row: (column) => sql`_t.${name(column)}` };
  return and(served.map((condition) => predicate(condition, names)));
}

/**
 * Whether all rows of an arm pass a condition anyway, because it bounds the arm's first column less than the arm's
 * range does. Such a condition is left out, because SQLite might seek by it instead of by the range.
 */
function isImplied(plan: ListPlan, arm: Arm, condition: Expression): boolean {
  if (arm.depth !== 0) return false;
  const bound = boundOf(condition);
  const term = plan.path.order[0]!;
  return bound?.column === term.column.name && bound.from === (term.descending ? "above" : "below");
}

/**
 * Whether an arm that is a range of NULLs cannot have a row, because one of the conditions that the index serves bounds
 * the column, and NULL is within no bound.
 */
function isShutOut({ path }: ListPlan, arm: Arm): boolean {
  const column = path.order[arm.depth]!.column.name;
  return arm.isNullRange && path.served.some((condition) => boundOf(condition)?.column === column);
}
