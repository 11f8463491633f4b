import type { Column } from "../../project/model.js";
import type { Expression } from "../../rules/ast.js";
import { alwaysTrue } from "../../rules/fold.js";
import { conjuncts, mentionsRow, withAliases } from "../../rules/walk.js";
import type { CatalogTable } from "../../schema/catalog.js";
import { rowKeyOf } from "../plan/access-path.js";
import { type BackwardRows, type ExpansionStep, type ReadAccess, stepsIn } from "../plan/expansion.js";
import type { ListPlan } from "../plan/list-plan.js";
import type { Seek } from "../plan/plan-check.js";
import {
  aliasName,
  and,
  carried,
  commaList,
  empty,
  integer,
  internalName,
  name,
  type Sql,
  sql,
  sum,
  unquoted,
} from "../sql-text/fragment.js";
import { distinct, searched, shownColumn } from "./candidates.js";
import { type Gate, type Gated, gateOf } from "./gate.js";
import { type Judge, judgeOf } from "./judge.js";
import { columnsOfAlias, columnsOfTable, firstAfter, orderBy } from "./place.js";
import { cutAt } from "./preview.js";
import { bytesColumn, shortExpanded, soughtIn } from "./wide-values.js";
import { jsonArray, jsonObject, keyValue, storedBytes } from "./wire.js";

/**
 * The part of a list's statement that finds the rows of its expansions, the related rows that `expand` asks for
 * (`docs/reference/http.md#expand`).
 */
export interface ExpansionsSql {
  /**
   * Common table expressions that find the related rows. In the list's WITH they come after the one that holds the
   * page's rows, from which they start.
   */
  readonly ctes: readonly Sql[];
  /** The SQL of how many bytes the stored values of all related rows take together, to check the size of the answer. */
  readonly bytes: Sql;
  /**
   * Three columns of the list's statement for each step of the expansions (a reference that is followed), in the order
   * of `stepsIn`. `fits` is the condition that the related rows do not have too many bytes to be written out.
   *
   * - The related rows, as `rowAndKeys` writes them, with `rowSeparator` between them; NULL where there are none, or
   *   `fits` does not hold. The first key of each is the value that has led to it. Rows with the same such value are in
   *   the order to be shown.
   * - A JSON array of three numbers: how many related rows were examined, how many rows were looked up for an `exists`
   *   of the read rule that depends on the related row, and how many for one that does not.
   * - For a step that counts, a JSON array of arrays `[value, number]`: how many rows each value leads to. Else NULL.
   */
  columns(fits: Sql): readonly Sql[];
  readonly exact: boolean;
  readonly seeks: readonly Seek[];
}

/**
 * Stands between the JSON texts of rows that are joined into one text. No JSON text that SQLite writes has a line
 * break, because SQLite escapes those inside of strings, so the joined text can be split at it.
 */
export const rowSeparator = ",\n";
/** `rowSeparator` as a text literal in SQL. */
export const separator: Sql = { text: `'${rowSeparator}'`, params: [] };

/**
 * The SQL of a row's JSON text (`row`). Where there are `keys` or `steps`, a line break and a JSON array follow: the
 * values `keys`, then for each step the row's value that the step looks up.
 */
export function rowAndKeys(
  row: Sql,
  keys: readonly Sql[],
  steps: readonly ExpansionStep[],
  alias: Sql,
  physical: CatalogTable | undefined,
): Sql {
  const values = [...keys, ...steps.map(({ from }) => keyOf(from, sql`${alias}.${carried(from.name)}`, physical))];
  return values.length === 0 ? row : sql`${row} || char(10) || ${jsonArray(values)}`;
}

const keyOf = (column: Column, ref: Sql, physical: CatalogTable | undefined) =>
  keyValue({ column, nullable: true, descending: false }, ref, physical);

/**
 * Makes the SQL that finds the rows of all expansions of a page. `page` is a table or subquery for a FROM: the page's
 * rows, with the columns whose values the expansions follow.
 */
export function expansionsSql(plan: ListPlan, page: Sql): ExpansionsSql {
  const all = stepsIn(plan.expansions);
  const parts = partsOf(plan.expansions, page, plan, plan, all, 1);
  return {
    ctes: parts.flatMap(({ ctes }) => ctes),
    bytes: sum(parts.map(({ bytes }) => bytes)),
    columns: (fits) =>
      parts.flatMap(({ rows, examined, counted }, i) => [
        sql`CASE WHEN ${fits} THEN (${rows}) END AS ${internalName("e", 3 * i)}`,
        sql`(${examined}) AS ${internalName("e", 3 * i + 1)}`,
        sql`${counted} AS ${internalName("e", 3 * i + 2)}`,
      ]),
    exact: parts.every(({ exact }) => exact),
    seeks: parts.flatMap(({ seeks }) => seeks),
  };
}

/** The SQL of one step of an expansion, from rows that are found already to those that they lead to. */
interface StepSql extends Pick<ExpansionsSql, "ctes" | "bytes" | "exact" | "seeks"> {
  readonly rows: Sql;
  readonly examined: Sql;
  readonly counted: Sql;
}

function partsOf(
  steps: readonly ExpansionStep[],
  source: Sql,
  before: Pick<ReadAccess, "table" | "catalog">,
  plan: ListPlan,
  all: readonly ExpansionStep[],
  rowsBefore: number,
): readonly StepSql[] {
  return steps.flatMap((step) => {
    const i = all.indexOf(step);
    const rowsMax = rowsBefore * (step.rows?.limit ?? 1);
    const part = stepSql(step, i, source, before, plan, rowsMax);
    return [part, ...partsOf(step.inner, part.found, step.access, plan, all, rowsMax)];
  });
}

/** One step of an expansion, with everything that its SQL is made of. */
interface Walked {
  readonly step: ExpansionStep;
  /** A SELECT of the values that this step looks up, `k`: those in the column `from` of the rows before. */
  readonly from: Sql;
  /** The alias of the table in which this step looks up rows. */
  readonly row: Sql;
  readonly gate: Gate;
  readonly judge: Judge;
  readonly scanLimit: number;
  /** The conditions by which the statement ends at a row with long values, where the rows are read as this alias. */
  readonly short: (alias: Sql) => readonly Sql[];
}

function stepSql(
  step: ExpansionStep,
  i: number,
  source: Sql,
  before: Pick<ReadAccess, "table" | "catalog">,
  plan: ListPlan,
  rowsMax: number,
): StepSql & { readonly found: Sql } {
  const { from, access, output, rows, inner } = step;
  const physicalBefore = before.catalog.tables.get(before.table.name);
  const physical = access.catalog.tables.get(access.table.name);
  const row = alias(i, "e");
  const gated = gatedBy(access, i);
  const gate = gateOf(gated, internalName("b", i));
  const judge = judgeOf(gated, gate, [], row);
  const value = carried(from.name);
  // Values of a referring column can be equal and yet differ, as 'a' and 'A' do with the collation NOCASE. Each is
  // answered with its own row: so DISTINCT, which would merge them, is left out, and each value is looked up by itself.
  const unique = rows !== null || physicalBefore?.exactColumns.has(from.name) ? sql`DISTINCT ` : empty;
  const values = sql`SELECT ${unique}_before.${value} AS k FROM ${source} AS _before WHERE _before.${value} IS NOT NULL`;
  const short = (alias: Sql) => shortExpanded(plan, alias, output, rowsMax);
  const walked: Walked = { step, from: values, row, gate, judge, scanLimit: plan.scanLimit, short };
  const rowKey = rowKeyOf(access.table, physical);
  const sought = rowKey === null ? [] : soughtIn({ wide: plan.wide, output });
  const later = alias(i, "v");
  const read = [...output.filter((column) => !sought.includes(column)), ...inner.map(({ from }) => from)];
  const needed = [
    ...read.map(({ name: column }) => carried(column)),
    ...(sought.length === 0 ? [] : [...rowKey!.map(carried), bytesColumn]),
  ];
  const readColumn = (row: Sql, column: Sql) =>
    column === bytesColumn
      ? sql`${storedBytes(sought, ({ name: its }) => sql`${row}.${name(its)}`)} AS ${column}`
      : shownColumn(access.catalog, access.table, row, column);
  const found = rows === null ? forward(walked, i, needed, readColumn) : backward(walked, rows, i, needed, readColumn);
  const refer = (column: Column) =>
    sought.includes(column) ? sql`${later}.${name(column.name)}` : sql`_found.${carried(column.name)}`;
  const cut = cutAt(plan.preview, refer);
  const shown = jsonObject(output, refer, physical, cut);
  const text = rowAndKeys(shown, [keyOf(from, sql`_found._k`, physicalBefore)], inner, sql`_found`, physical);
  const bytes = sought.length > 0 ? sql`_found.${bytesColumn}` : storedBytes(output, refer, cut);
  const isRow = and((rowKey ?? []).map((column) => sql`${later}.${name(column)} = _found.${carried(column)}`));
  const lookup =
    sought.length === 0 ? empty : sql` CROSS JOIN ${name(access.table.name)} AS ${later} NOT INDEXED WHERE ${isRow}`;
  const counts = sql`SELECT _w._k AS _k, count(*) AS _n FROM ${found.examined} AS _w WHERE ${judge.passes} GROUP BY _w._k`;
  return {
    ctes: [...gate.ctes, ...found.ctes],
    found: found.rows,
    rows: sql`SELECT group_concat(${text}, ${separator}) FROM ${found.rows} AS _found${lookup}`,
    bytes: bytes.text === "0" ? bytes : sql`ifnull((SELECT sum(${bytes}) FROM ${found.rows} AS _found), 0)`,
    examined: sql`SELECT json_array(count(*), ${judge.probed}, ${gate.visits}) FROM ${found.examined} AS _w`,
    counted: rows?.counts
      ? sql`(SELECT json_group_array(json_array(${keyOf(from, sql`_k`, physicalBefore)}, _n)) FROM (${counts}))`
      : sql`NULL`,
    exact: gate.exact && judge.exact,
    seeks: [
      ...gate.seeks,
      ...judge.seeks,
      ...found.seeks,
      ...(sought.length === 0 ? [] : [{ alias: unquoted(later), columns: rowKey! }]),
    ],
  };
}

/**
 * The read rule of a step's table, split as a list's plan has it: conditions that depend on no row, and conditions on
 * the row. The step's number goes into the rule's aliases, because the rules of several steps in one statement may use
 * the same ones.
 */
function gatedBy({ table, catalog, rule }: ReadAccess, i: number): Gated & Pick<ListPlan, "table"> {
  const named = withAliases(rule, (alias) => `${i}_${alias}`);
  const terms = conjuncts(named).filter((term) => !alwaysTrue(term));
  const isOfRow = (term: Expression) => mentionsRow(term, "row");
  return {
    table,
    catalog,
    gates: terms.filter((term) => !isOfRow(term)),
    path: { rest: terms.filter(isOfRow) },
  };
}

/**
 * An alias for a table of the i-th step of the expansions. It begins with a number, so that it is none of a rule's
 * aliases, which begin with a letter.
 */
const alias = (i: number, kind: "e" | "n" | "r" | "v") => aliasName(`${i}${kind}`);

/** The SQL of the rows that one step of an expansion finds. */
interface StepRows {
  readonly ctes: readonly Sql[];
  /** For a FROM: all rows that this step has examined, with the columns that `judge` reads. */
  readonly examined: Sql;
  /**
   * A table or subquery for a FROM: those rows found by this step that the caller may read and that are to be shown.
   * The column `_k` holds the value that has led to the row.
   */
  readonly rows: Sql;
  readonly seeks: readonly Seek[];
}

/** Makes `alias.column AS column` for the SELECT list of a step's rows. */
type ReadColumn = (alias: Sql, column: Sql) => Sql;

function forward(walked: Walked, i: number, needed: readonly Sql[], readColumn: ReadColumn): StepRows {
  const { row, judge } = walked;
  const cte = internalName("e", i);
  const columns = distinct([...needed, ...judge.columns]).map((column) => readColumn(row, column));
  const { select, seeks } = whole(walked, columns, sql`-1`, walked.short(row));
  return {
    ctes: [sql`${cte} AS MATERIALIZED (${select})`],
    examined: cte,
    rows: sql`(SELECT * FROM ${cte} AS _w WHERE ${judge.passes})`,
    seeks,
  };
}

function backward(
  walked: Walked,
  rows: BackwardRows,
  i: number,
  needed: readonly Sql[],
  readColumn: ReadColumn,
): StepRows {
  const { step, judge } = walked;
  const { access } = step;
  const examined = internalName("c", i);
  const cte = internalName("e", i);
  const again = alias(i, "r");
  const columns = shownColumns(
    access,
    walked.row,
    distinct([...rows.rowKey.map(carried), ...rows.order.map(({ column }) => carried(column.name)), ...judge.columns]),
  );
  // One row more than the scan limit tells that there are too many.
  const { select, seeks } = rows.isLazy
    ? untilEnough(walked, rows, i, columns)
    : whole(walked, columns, integer(walked.scanLimit + 1), []);
  const passing = sql`${examined} AS _w WHERE ${judge.passes}`;
  const chosen = rows.isLazy
    ? sql`SELECT * FROM ${passing}`
    : sql`SELECT * FROM (SELECT _w.*, row_number() OVER (PARTITION BY _w._k${orderBy(rows.order, columnsOfAlias(sql`_w`))}) AS _n FROM ${passing}) WHERE _n <= ${integer(rows.limit)}`;
  const list = [sql`_c._k AS _k`, ...distinct(needed).map((column) => readColumn(again, column))];
  const isRow = and([
    ...rows.rowKey.map((column) => sql`${again}.${name(column)} = _c.${carried(column)}`),
    ...walked.short(again),
  ]);
  // CROSS JOIN makes SQLite read the chosen rows first and look up the other columns of one after the other, which
  // keeps their order.
  const read = sql`SELECT ${commaList(list)} FROM (${chosen}) AS _c CROSS JOIN ${name(access.table.name)} AS ${again} NOT INDEXED WHERE ${isRow}`;
  return {
    ctes: [sql`${examined} AS MATERIALIZED (${select})`, sql`${cte} AS MATERIALIZED (${read})`],
    examined,
    rows: cte,
    seeks: [...seeks, { alias: unquoted(again), columns: rows.rowKey }],
  };
}

interface Examination {
  readonly select: Sql;
  readonly seeks: readonly Seek[];
}

/** Makes a SELECT of the rows that the values of a step lead to, in no order. */
function whole(
  { step, from, row, gate, judge }: Walked,
  columns: readonly Sql[],
  limit: Sql,
  also: readonly Sql[],
): Examination {
  const { to, access, index } = step;
  const list = commaList([sql`_p.k AS _k`, ...columns, ...judge.probes]);
  return {
    select: sql`SELECT ${list} FROM (${from}) AS _p CROSS JOIN ${searched(access, index, row)} WHERE ${and([sql`${row}.${name(to.name)} = +_p.k`, ...also])} LIMIT ${gate.limited(limit)}`,
    seeks: [{ alias: unquoted(row), columns: [to.name] }],
  };
}

/**
 * Makes a SELECT that examines the rows that each value of a step leads to, in the order of the index. For a value it
 * stops when it has found as many rows as are shown, counting only those that the caller may read. For all values
 * together it examines one row more than the scan limit at most.
 *
 * It is a recursive query: its queue holds for each value the row that was examined last, and in `_f` how many of the
 * rows before that one the caller may read.
 */
function untilEnough(
  { step, from, row, gate, judge, scanLimit }: Walked,
  { order, rowKey, limit }: BackwardRows,
  i: number,
  columns: readonly Sql[],
): Examination {
  const { to, access, index } = step;
  const next = alias(i, "n");
  const key = name(rowKey[0]!);
  const n = columnsOfTable(next);
  const seek = (value: Sql, arm: readonly Sql[]) =>
    sql`(SELECT ${next}.${key} FROM ${searched(access, index, next)} WHERE ${and([sql`${next}.${name(to.name)} = +${value}`, ...arm])}${orderBy(order, n)} LIMIT 1)`;
  const select = (value: Sql, found: Sql, source: Sql, conditions: readonly Sql[]) =>
    sql`SELECT ${commaList([sql`${value} AS _k`, sql`${found} AS _f`, ...columns, ...judge.probes])} FROM ${source} CROSS JOIN ${name(access.table.name)} AS ${row} NOT INDEXED WHERE ${and(conditions)}`;
  const after = firstAfter(order, n, columnsOfAlias(sql`_w`), (arm) => seek(sql`_w._k`, [arm]));
  const soFar = sql`(_w._f + ((${judge.passes}) IS TRUE))`;
  const first = select(sql`_p.k`, sql`0`, sql`(${from}) AS _p`, [sql`${row}.${key} = ${seek(sql`_p.k`, [])}`]);
  const rest = select(sql`_w._k`, soFar, sql`${internalName("c", i)} AS _w`, [
    sql`${soFar} < ${integer(limit)}`,
    sql`${row}.${key} = ${after}`,
  ]);
  return {
    select: sql`${first} UNION ALL ${rest} LIMIT ${gate.limited(integer(scanLimit + 1))}`,
    seeks: [
      { alias: unquoted(row), columns: rowKey },
      { alias: unquoted(next), columns: [to.name] },
    ],
  };
}

function shownColumns({ catalog, table }: ReadAccess, alias: Sql, columns: readonly Sql[]): readonly Sql[] {
  return distinct(columns).map((column) => shownColumn(catalog, table, alias, column));
}
