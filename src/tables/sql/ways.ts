import type { ColumnReference, Expression } from "../../rules/ast.js";
import { existsIn, substitute } from "../../rules/walk.js";
import type { CatalogIndex } from "../../schema/catalog.js";
import { rowKeyOf, type WalkedWay } from "../list/access-path.js";
import type { ListPlan } from "../list/list-plan.js";
import type { Hop } from "../list/ways.js";
import type { Seek } from "../plan-check.js";
import { type CandidateSource, concatenated, distinct, limitOf, shownColumn } from "./candidates.js";
import {
  aliasName,
  and,
  commaList,
  empty,
  integer,
  internalName,
  join,
  name,
  or,
  physicalName,
  type Sql,
  sql,
  sum,
} from "./fragment.js";
import type { Gate } from "./gate.js";
import { armsAfter, columnsOfAlias, notBehind, orderBy, placeOf, type Refer } from "./place.js";
import { existsSql, listed, noNames, predicate, type SqlNames } from "./predicate.js";

/**
 * The candidates of a list whose rows are found by ways, index walks from a known value (docs/reference/http.md#ways).
 * Common table expressions hold what each hop finds, and `_keys` holds for each way, by its number `w`, the values `k`
 * that its column equals in the rows that it leads to. The gate is also closed, so that no row is read, where the hops
 * find more rows than the scan limit.
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
    gate: {
      ...gate,
      ctes: [...gate.ctes, ...ctes],
      limited: (limit) => sql`CASE WHEN ${few} THEN ${gate.limited(limit)} ELSE 0 END`,
      counted: (count) => sql`CASE WHEN ${few} THEN ${gate.counted(count)} ELSE 0 END`,
    },
    ways: {
      links,
      left: sql`(${integer(plan.scanLimit)} - ${links})`,
      isFirst: ways.length === 1 ? null : firstOf(ways),
    },
    inAnyOrder: (columns, more, limit) => {
      const list = shown(plan, columns, more);
      const selects = ways.map(
        (way, w) =>
          sql`SELECT ${list} FROM ${keysName(w)} AS _k CROSS JOIN ${searched(plan, way.index, sql`_t`)} WHERE ${isReached(way, sql`_t`, sql`_k`)}`,
      );
      return selects.length === 1
        ? sql`${selects[0]!}${limitOf(limit)}`
        : concatenated(selects, limitOf(limit));
    },
    inOrder: (columns, more, limitClause, until) => {
      const [rowKey] = rowKeyOf(plan.table, plan.catalog.tables.get(plan.table.name))!;
      const row = name(rowKey!);
      return sql`SELECT ${shown(plan, columns, more)} FROM (${merged(plan, ways, row, limitClause, until)}) AS _k CROSS JOIN ${name(plan.table.name)} AS _t NOT INDEXED WHERE _t.${row} = _k.p`;
    },
    refer: columnsOfAlias(sql`_t`),
    exact: all.every(({ exact }) => exact),
    seeks: [
      ...all.map(({ seek }) => seek),
      { alias: "_t", columns: [] },
      ...ways.map(({ column }, w) => ({ alias: nextAlias(w), columns: [column] })),
    ],
  };
}

/** The name of a common table expression for the values of the way with this number. */
const keysName = (w: number) => internalName("w", w);

interface HopSql {
  readonly cte: Sql;
  readonly rows: Sql;
  readonly exact: boolean;
  readonly seek: Seek;
}

/** A SELECT of the values that lead on from the rows that a hop (a table that a way passes) has found. */
function keysOf(cte: Sql): Sql {
  return sql`SELECT DISTINCT k FROM ${cte} WHERE ok AND k IS NOT NULL`;
}

function hopsOf({ scanLimit }: ListPlan, { from, hops }: WalkedWay, w: number, gate: Gate): HopSql[] {
  const made: HopSql[] = [];
  for (const [i, hop] of hops.entries()) {
    // This alias begins with a number and so is not taken: aliases of rules begin with a letter.
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
      rows: sql`SELECT ${row}.${name(hop.key)} AS k, ${and(tests)} AS ok FROM ${source}${name(hop.table)} AS ${row} ${hint(hop.index)} WHERE ${row}.${name(hop.by)} = ${value} LIMIT ${gate.limited(integer(scanLimit + 1))}`,
      exact: hop.tests.every((test) => existsIn(test).length === 0),
      seek: { alias: row.text.replaceAll('"', ""), columns: [hop.by] },
    });
  }
  return made;
}

/** Each way has this many numbers for the names of its hops: more than the depth of `exists` that a rule may have. */
const hopsMax = 100;

const hopNames: SqlNames = { ...noNames, exists: (nested) => existsSql(nested, hopNames) };

function renamed(test: Hop["tests"][number], from: string, to: string): Expression {
  const isOwn = ({ source }: ColumnReference) => typeof source === "object" && source.alias === from;
  return substitute(test, (reference) =>
    isOwn(reference) ? { ...reference, source: { alias: to } } : reference,
  );
}

function hint(index: CatalogIndex | null): Sql {
  return index === null ? sql`NOT INDEXED` : sql`INDEXED BY ${physicalName(index.name)}`;
}

function searched({ table }: ListPlan, index: CatalogIndex | null, alias: Sql): Sql {
  return sql`${name(table.name)} AS ${alias} ${hint(index)}`;
}

function shown({ catalog, table }: ListPlan, columns: readonly Sql[], more: readonly Sql[]): Sql {
  const list = distinct(columns).map((column) => shownColumn(catalog, table, sql`_t`, column));
  return list.length + more.length === 0 ? sql`1` : commaList([...list, ...more]);
}

/** The condition that a row of `alias` is one that a way leads to from the key of `source`. */
function isReached({ column, served }: WalkedWay, alias: Sql, source: Sql): Sql {
  const names: SqlNames = { ...noNames, row: (column) => sql`${alias}.${name(column)}` };
  // The plus takes the affinity away that the key may have as a column, so that the index is used whatever that is.
  return and([
    sql`${alias}.${name(column)} = +${source}.k`,
    ...served.map((condition) => predicate(condition, names)),
  ]);
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
 * A SELECT of `p`, the key of a row, and `w`, the number of the way that has led to it, for the candidates of a window
 * in the list's order. It is a recursive query whose queue holds the next row of each key of a way: whenever a row is
 * taken out of it, the row that follows by the same key is looked up by the index and put in.
 */
function merged(
  plan: ListPlan,
  ways: readonly WalkedWay[],
  row: Sql,
  limitClause: Sql,
  until: Sql | null,
): Sql {
  const { order } = plan.path;
  const { after, upTo } = plan.window;
  // Where rows are ordered by their key alone, the queue holds nothing else of a row than the key, which the index has.
  const isByKey = order.length === 1 && name(order[0]!.column.name).text === row.text;
  const places = isByKey ? [sql`p`] : order.map((_, i) => internalName("o", i));
  const place: Refer = (column) => sql`_q.${places[order.findIndex((term) => term.column === column)]!}`;
  const within = (refer: Refer) => [
    ...(upTo === null ? [] : [notBehind(order, refer, placeOf(order, upTo))]),
    ...(until === null ? [] : [notBehind(order, refer, columnsOfAlias(sql`_u`))]),
  ];
  // The place is joined as a table of its own, so that the SQL names it once, however many columns it has.
  const beside = until === null ? empty : sql` CROSS JOIN ${until} AS _u`;
  const step = (source: Sql, begin: Refer | null) => {
    const next = nextOfWays(plan, ways, row, source, begin);
    if (isByKey)
      return sql`SELECT ${source}.w AS w, ${source}.k AS k, ${next} AS p FROM ${source}${beside} WHERE ${and([sql`${next} IS NOT NULL`, ...within(() => next)])}`;
    const h = columnsOfAlias(sql`_h`);
    const values = order.map(({ column }, i) => sql`${h(column)} AS ${places[i]!}`);
    return sql`SELECT ${source}.w AS w, ${source}.k AS k, _h.${row} AS p, ${commaList(values)} FROM ${source}${beside} CROSS JOIN ${name(plan.table.name)} AS _h NOT INDEXED WHERE ${and([sql`_h.${row} = ${next}`, ...within(h)])}`;
  };
  const first = step(sql`_keys`, after === null ? null : placeOf(order, after));
  const terms = order.map(({ descending }, i) => sql`${places[i]!}${descending ? sql` DESC` : sql``}`);
  const columns = commaList([sql`w`, sql`k`, sql`p`, ...(isByKey ? [] : places)]);
  return sql`WITH _q(${columns}) AS (${first} UNION ALL ${step(sql`_q`, place)} ORDER BY ${commaList(terms)} ${limitClause}) SELECT * FROM _q`;
}

/** The key of the next row, by the way whose number is in `source`. */
function nextOfWays(
  plan: ListPlan,
  ways: readonly WalkedWay[],
  row: Sql,
  source: Sql,
  begin: Refer | null,
): Sql {
  const nexts = ways.map((way, w) =>
    nextOf(plan, way, { text: nextAlias(w), params: [] }, row, source, begin),
  );
  const cases = nexts.map((next, w) => sql`WHEN ${integer(w)} THEN ${next}`);
  return nexts.length === 1 ? nexts[0]! : sql`CASE ${source}.w ${join(cases, sql` `)} END`;
}

/** The alias of the listed table where the next row of a way's key is looked up. */
const nextAlias = (w: number) => `_y${w}`;

/**
 * The key of the first row behind a place (of the first row at all, without a place) that a way leads to from one of
 * its keys.
 */
function nextOf(plan: ListPlan, way: WalkedWay, alias: Sql, row: Sql, source: Sql, begin: Refer | null): Sql {
  const { order } = plan.path;
  const y = columnsOfAlias(alias);
  const seek = (arm: readonly Sql[]) =>
    sql`(SELECT ${alias}.${row} FROM ${searched(plan, way.index, alias)} WHERE ${and([isReached(way, alias, source), ...arm])}${orderBy(order, y)} LIMIT 1)`;
  if (begin === null) return seek([]);
  const arms = armsAfter(order, y, begin).map((arm) => seek([arm]));
  return arms.length === 1 ? arms[0]! : sql`coalesce(${commaList(arms)})`;
}
