import type { ColumnReference, Expression } from "../../rules/ast.js";
import { existsIn, substitute } from "../../rules/walk.js";
import { rowKeyOf, type WalkedWay } from "../plan/access-path.js";
import type { ListPlan } from "../plan/list-plan.js";
import type { Seek } from "../plan/plan-check.js";
import type { Hop } from "../plan/ways.js";
import {
  aliasName,
  and,
  carried,
  commaList,
  empty,
  indexedBy,
  integer,
  internalName,
  join,
  name,
  or,
  type Sql,
  sql,
  sum,
  unquoted,
} from "../sql-text/fragment.js";
import { type CandidateSource, concatenated, limitOf, searched, selectList } from "./candidates.js";
import { type Gate, narrowed } from "./gate.js";
import { columnsOfAlias, columnsOfTable, firstAfter, notBehind, orderBy, placeOf, type Refer } from "./place.js";
import { existsSql, listed, noNames, predicate, type SqlNames } from "./predicate.js";
import { shortRows } from "./wide-values.js";

/**
 * Makes the source of candidates for a list whose rows are found by ways: index walks from a known value, such as the
 * caller's id (docs/reference/http.md#ways). Common table expressions hold the rows that are found in each hop. `_keys`
 * holds the values that the ways have come to: `w`, the number of the way, and `k`, what the way's column of the listed
 * table has to equal. The gate is closed, so that no row is read, also where more rows than the scan limit are found in
 * the hops.
 */
export function waysSource(plan: ListPlan, ways: readonly WalkedWay[], gate: Gate): CandidateSource {
  const hops = ways.map((way, w) => hopsOf(plan, way, w, gate));
  const all = hops.flat();
  const keys = ways.map((way, w) => {
    const last = hops[w]!.at(-1);
    if (last !== undefined) return sql`SELECT ${integer(w)} AS w, k FROM (${keysOf(last.cte)})`;
    return way.from.kind === "in_given"
      ? sql`SELECT DISTINCT ${integer(w)} AS w, item AS k FROM (${listed(way.from)})`
      : sql`SELECT ${integer(w)} AS w, ${predicate(way.from, noNames)} AS k`;
  });
  const ofWays = keys.map((key, w) => sql`${keysName(w)} AS MATERIALIZED (${key})`);
  const together = keys.map((_, w) => sql`SELECT w, k FROM ${keysName(w)}`);
  const links = sum(all.map(({ cte }) => sql`(SELECT count(*) FROM ${cte})`));
  const few = sql`${links} <= ${integer(plan.scanLimit)}`;
  const ctes = [
    ...all.map(({ cte, rows }) => sql`${cte} AS MATERIALIZED (${rows})`),
    ...ofWays,
    sql`_keys AS MATERIALIZED (${concatenated(together, empty)})`,
  ];
  return {
    gate: narrowed(gate, ctes, few),
    ways: {
      links,
      left: sql`(${integer(plan.scanLimit)} - ${links})`,
      isFirst: ways.length === 1 ? null : firstOf(ways),
    },
    inAnyOrder: (columns, more, limit) => {
      const list = selectList(plan, columns, more);
      const selects = ways.map(
        (way, w) =>
          sql`SELECT ${list} FROM ${keysName(w)} AS _k CROSS JOIN ${searched(plan, way.index, sql`_t`)} WHERE ${and([isReached(way, sql`_t`, sql`_k`), ...shortRows(plan, sql`_t`, columns)])}`,
      );
      return selects.length === 1 ? sql`${selects[0]!}${limitOf(limit)}` : concatenated(selects, limitOf(limit));
    },
    inOrder: (columns, more, limitClause, until) => {
      const [rowKey] = rowKeyOf(plan.table, plan.catalog.tables.get(plan.table.name))!;
      const row = name(rowKey!);
      return sql`SELECT ${selectList(plan, columns, more)} FROM (${merged(plan, ways, row, limitClause, until)}) AS _k CROSS JOIN ${name(plan.table.name)} AS _t NOT INDEXED WHERE ${and([sql`_t.${row} = _k.p`, ...shortRows(plan, sql`_t`, columns)])}`;
    },
    refer: columnsOfTable(sql`_t`),
    exact: all.every(({ exact }) => exact),
    seeks: [
      ...all.map(({ seek }) => seek),
      { alias: "_t", columns: [] },
      ...ways.map(({ column }, w) => ({ alias: nextAlias(w), columns: [column] })),
    ],
  };
}

/** Returns the name of the common table expression with the values that the way with this number has come to. */
const keysName = (w: number) => internalName("w", w);

interface HopSql {
  readonly cte: Sql;
  readonly rows: Sql;
  readonly exact: boolean;
  readonly seek: Seek;
}

/**
 * Makes a SELECT of the values with which a way goes on from one of its hops. `cte` holds the rows that were found in
 * that hop.
 */
function keysOf(cte: Sql): Sql {
  return sql`SELECT DISTINCT k FROM ${cte} WHERE ok AND k IS NOT NULL`;
}

function hopsOf({ scanLimit }: ListPlan, { from, hops }: WalkedWay, w: number, gate: Gate): HopSql[] {
  const made: HopSql[] = [];
  for (const [i, hop] of hops.entries()) {
    // The alias begins with a number, so that it is none of a rule's aliases, which begin with a letter.
    const alias = `${w}_${i}_${hop.alias}`;
    const before = made.at(-1);
    const [source, value] =
      before === undefined
        ? [sql``, predicate(from, noNames)]
        : [sql`(${keysOf(before.cte)}) AS _k CROSS JOIN `, sql`+_k.k`];
    const tests = hop.tests.map((test) => predicate(renamed(test, hop.alias, alias), hopNames));
    const row = aliasName(alias);
    made.push({
      cte: internalName("l", w * hopsMax + i),
      rows: sql`SELECT ${row}.${name(hop.key)} AS k, ${and(tests)} AS ok FROM ${source}${name(hop.table)} AS ${row} ${indexedBy(hop.index)} WHERE ${row}.${name(hop.by)} = ${value} LIMIT ${gate.limited(integer(scanLimit + 1))}`,
      exact: hop.tests.every((test) => existsIn(test).length === 0),
      seek: { alias: unquoted(row), columns: [hop.by] },
    });
  }
  return made;
}

/**
 * The common table expression for the i-th hop of the way `w` is numbered `w * hopsMax + i`. No way has as many hops as
 * this: a rule's `exists` cannot be nested that deep.
 */
const hopsMax = 100;

const hopNames: SqlNames = { ...noNames, exists: (nested) => existsSql(nested, hopNames) };

function renamed(test: Hop["tests"][number], from: string, to: string): Expression {
  const isOwn = ({ source }: ColumnReference) => typeof source === "object" && source.alias === from;
  return substitute(test, (reference) => (isOwn(reference) ? { ...reference, source: { alias: to } } : reference));
}

/** Makes the condition that the row of `alias` is one to which a way leads from the value `k` of `source`. */
function isReached({ column, served }: WalkedWay, alias: Sql, source: Sql): Sql {
  const names: SqlNames = { ...noNames, row: (column) => sql`${alias}.${name(column)}` };
  // The unary plus takes away the affinity that `k` may have as a column, so that SQLite uses the index whatever that
  // is.
  return and([sql`${alias}.${name(column)} = +${source}.k`, ...served.map((condition) => predicate(condition, names))]);
}

function firstOf(ways: readonly WalkedWay[]): Sql {
  const earlier = ways
    .slice(0, -1)
    .map(
      ({ column }, w) =>
        sql`(_k.w > ${integer(w)} AND ifnull(_t.${name(column)} IN (SELECT k FROM ${keysName(w)}), 0))`,
    );
  return sql`NOT ${or(earlier)}`;
}

/**
 * Makes a SELECT of the candidates of a window, in the list's order, that ways lead to: `p`, the row's key, and `w`,
 * the number of the way that has led to it.
 *
 * It is a recursive query that merges the rows of all values of all ways. Its queue holds for each value the next row,
 * in the list's order. Whenever a row is taken out of the queue, the row that follows it by the same value is looked up
 * in the index and put in.
 */
function merged(plan: ListPlan, ways: readonly WalkedWay[], row: Sql, limitClause: Sql, until: Sql | null): Sql {
  const { order } = plan.path;
  const { after, upTo } = plan.window;
  // Where rows are ordered by their key alone, the queue holds nothing of a row but its key, which is in the index, so
  // that the row itself need not be read.
  const isByKey = order.length === 1 && name(order[0]!.column.name).text === row.text;
  const places = isByKey ? [sql`p`] : order.map((_, i) => internalName("o", i));
  const place: Refer = (column) => sql`_q.${places[order.findIndex((term) => term.column === column)]!}`;
  const within = (refer: Refer) => [
    ...(upTo === null ? [] : [notBehind(order, refer, placeOf(order, upTo))]),
    ...(until === null ? [] : [notBehind(order, refer, columnsOfAlias(sql`_u`))]),
  ];
  // The place `until`, where the scan may end, is joined as a table `_u`, so that its SQL stands in the query once,
  // however many of its columns are compared.
  const ordering = order.map(({ column }) => carried(column.name));
  const bounded = until === null ? empty : sql` CROSS JOIN ${until} AS _u`;
  const step = (source: Sql, begin: Refer | null) => {
    const next = nextOfWays(plan, ways, row, source, begin);
    if (isByKey)
      return sql`SELECT ${source}.w AS w, ${source}.k AS k, ${next} AS p FROM ${source}${bounded} WHERE ${and([sql`${next} IS NOT NULL`, ...within(() => next)])}`;
    const h = columnsOfTable(sql`_h`);
    const values = order.map(({ column }, i) => sql`${h(column)} AS ${places[i]!}`);
    return sql`SELECT ${source}.w AS w, ${source}.k AS k, _h.${row} AS p, ${commaList(values)} FROM ${source}${bounded} CROSS JOIN ${name(plan.table.name)} AS _h NOT INDEXED WHERE ${and([sql`_h.${row} = ${next}`, ...within(h), ...shortRows(plan, sql`_h`, ordering)])}`;
  };
  const first = step(sql`_keys`, after === null ? null : placeOf(order, after));
  const terms = order.map(({ descending }, i) => sql`${places[i]!}${descending ? sql` DESC` : sql``}`);
  // Several ways may lead to one row. The first of them comes first, so that no window ends between a later one, by
  // which the row is not listed, and the first.
  const queue = ways.length === 1 ? terms : [...terms, sql`w`];
  const columns = commaList([sql`w`, sql`k`, sql`p`, ...(isByKey ? [] : places)]);
  return sql`WITH _q(${columns}) AS (${first} UNION ALL ${step(sql`_q`, place)} ORDER BY ${commaList(queue)} ${limitClause}) SELECT * FROM _q`;
}

/**
 * Makes the SQL of the key of the next row that a value of `source` leads to, by the way with the number in `source`.
 * The row comes after the place `begin`; where that is null, it is the first row. The key is NULL where there is none.
 */
function nextOfWays(plan: ListPlan, ways: readonly WalkedWay[], row: Sql, source: Sql, begin: Refer | null): Sql {
  const nexts = ways.map((way, w) => nextOf(plan, way, { text: nextAlias(w), params: [] }, row, source, begin));
  const cases = nexts.map((next, w) => sql`WHEN ${integer(w)} THEN ${next}`);
  return nexts.length === 1 ? nexts[0]! : sql`CASE ${source}.w ${join(cases, sql` `)} END`;
}

/** Returns the alias of the listed table in the subquery that looks up the next row of the way `w`. */
const nextAlias = (w: number) => `_y${w}`;

/**
 * Makes the SQL of the key of the first row, in the list's order, that a way leads to from the value of `source`: of
 * those after the place `begin`, or of all if `begin` is null. The key is NULL where there is no such row.
 */
function nextOf(plan: ListPlan, way: WalkedWay, alias: Sql, row: Sql, source: Sql, begin: Refer | null): Sql {
  const { order } = plan.path;
  const y = columnsOfTable(alias);
  const seek = (arm: readonly Sql[]) =>
    sql`(SELECT ${alias}.${row} FROM ${searched(plan, way.index, alias)} WHERE ${and([isReached(way, alias, source), ...arm])}${orderBy(order, y)} LIMIT 1)`;
  if (begin === null) return seek([]);
  return firstAfter(order, y, begin, (arm) => seek([arm]));
}
