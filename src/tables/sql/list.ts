import type { Statement } from "../../platform/database.js";
import type { Exists } from "../../project/rules/ast.js";
import { columnsOf } from "../../project/rules/columns-of.js";
import type { Condition } from "../access-path.js";
import type { ListPlan } from "../list-plan.js";
import type { OrderTerm } from "../order.js";
import {
  and,
  comma,
  empty,
  join,
  name,
  param,
  physicalName,
  type Sql,
  sql,
  toStatement,
} from "./fragment.js";
import {
  type Arm,
  armsBehind,
  behind,
  columnsOfAlias,
  notBehind,
  orderBy,
  placeOf,
  stopAt,
} from "./place.js";
import { conditionSql, existsSql, predicate, type Scope } from "./predicate.js";
import { outermostExists, probe, probeMatched } from "./probe.js";
import { jsonArray, jsonObject, wireValue } from "./wire.js";

/**
 * One page as one statement, so that the page and its total are of one moment. Its single row, in this order:
 *
 * - the page's rows, as the inside of a JSON array, or NULL;
 * - how many authorized rows were found, at most `limit + 1`;
 * - the key of the page's last row as a JSON array, where a row beyond the page was found;
 * - what was counted in the window as a JSON array `[candidates, authorized, probed]`, where it was counted;
 * - what the page examined as a JSON array `[candidates, probed]`; NULL where nobody asked;
 * - the rows that the gates' probes visited.
 *
 * `exact` is false where an `exists` examines a number of rows that nothing reports.
 */
export function listStatement(plan: ListPlan): { readonly statement: Statement; readonly exact: boolean } {
  const parts = partsOf(plan);
  const { gate, order } = parts;
  const keys = order.map(({ column }) => wireValue(column, sql`_page.${name(column.name)}`));
  const ctes = [
    ...gate.ctes,
    ...(parts.counted === null ? [] : [sql`_counted AS MATERIALIZED (${parts.counted})`]),
    sql`_page AS MATERIALIZED (${parts.page})`,
    sql`_peeked AS (SELECT * FROM _page LIMIT 1 OFFSET ${param(BigInt(plan.limit))})`,
  ];
  const row = jsonObject(plan.output, ({ name: column }) => sql`_page.${name(column)}`);
  const rows = sql`SELECT group_concat(${row}) FROM (SELECT * FROM _page LIMIT ${param(BigInt(plan.limit))}) AS _page`;
  const lastKey = sql`SELECT ${jsonArray(keys)} FROM _page WHERE EXISTS (SELECT 1 FROM _peeked) LIMIT 1 OFFSET ${param(BigInt(plan.limit - 1))}`;
  const counted = parts.counted === null || !plan.window.counted ? parts.countedValue : sql`NULL`;
  const text = sql`WITH ${join(ctes, comma)} SELECT (${rows}), (SELECT count(*) FROM _page), (${lastKey}), ${counted}, ${parts.examined}, ${gate.visits}`;
  return { statement: toStatement(text), exact: parts.exact };
}

/**
 * The last candidate that the window reaches and whether one comes behind it: one or two rows of a JSON array, none
 * where the window reaches the end. For a window that may have ended first.
 */
export function windowEndStatement(plan: ListPlan): Statement {
  const { order } = plan.path;
  const candidates = armed(
    plan,
    selectFrom(plan, keyColumns(order)),
    sql`LIMIT ${param(BigInt(plan.scanLimit + 1))}`,
  );
  const keys = order.map(({ column }) => wireValue(column, sql`_w.${name(column.name)}`));
  return toStatement(
    sql`SELECT ${jsonArray(keys)} FROM (${candidates}) AS _w LIMIT 2 OFFSET ${param(BigInt(plan.scanLimit - 1))}`,
  );
}

interface Parts {
  readonly gate: Gate;
  readonly order: readonly OrderTerm[];
  readonly page: Sql;
  readonly counted: Sql | null;
  readonly countedValue: Sql;
  readonly examined: Sql;
  readonly exact: boolean;
}

function partsOf(plan: ListPlan): Parts {
  return plan.path.ordered ? orderedParts(plan) : sortedParts(plan);
}

const w = columnsOfAlias(sql`_w`);
const isPeeked = sql`EXISTS (SELECT 1 FROM _peeked)`;

/** Candidates come in the order asked for: the page ends the scan. */
function orderedParts(plan: ListPlan): Parts {
  const gate = gateOf(plan);
  const judge = judgeOf(plan, plan.path.rest, empty);
  const { order } = plan.path;
  const { window, limit, scanLimit } = plan;
  const limitClause = sql`LIMIT ${gate.limited(param(BigInt(scanLimit)))}`;
  const from = (columns: readonly Sql[], stop: Sql | null) =>
    armed(plan, selectFrom(plan, columns, judge.probes), limitClause, stop);
  const page = sql`SELECT ${join(
    pageColumns(plan).map((c) => sql`_w.${c}`),
    comma,
  )} FROM (${from(pageColumns(plan, judge.columns), null)}) AS _w WHERE ${judge.passes} LIMIT ${param(BigInt(limit + 1))} OFFSET ${param(BigInt(window.skip))}`;
  const judged = (stop: Sql | null) => from([...judge.columns, ...keyColumns(order)], stop);
  const peek = (column: OrderTerm["column"]) => sql`(SELECT ${name(column.name)} FROM _peeked)`;
  const unconditional = plan.path.rest.length === 0 && plan.path.served.length === 0 && window.after === null;
  const counted = window.counted
    ? null
    : unconditional
      ? sql`SELECT ${gate.counted(sql`SELECT count(*) FROM ${name(plan.table.name)}`)} AS n, NULL AS authorized, 0 AS probed`
      : sql`SELECT count(*) AS n, count(*) FILTER (WHERE ${judge.passes}) AS authorized, ${judge.probed} AS probed FROM (${judged(null)}) AS _w`;
  const all =
    counted === null
      ? sql`SELECT json_array(count(*), ${judge.probed}) FROM (${judged(null)}) AS _w`
      : sql`SELECT json_array(min(n, ${param(BigInt(scanLimit))}), probed) FROM _counted`;
  const upToPeeked = sql`SELECT json_array(count(*), ${judge.probed}) FROM (${judged(stopAt(order, columnsOfAlias(sql`_t`), peek))}) AS _w WHERE ${notBehind(order, w, peek)}`;
  const whenPeeked = !plan.metered
    ? sql`NULL`
    : plan.path.rest.length === 0
      ? sql`json_array(${param(BigInt(window.skip + limit + 1))}, 0)`
      : sql`(${upToPeeked})`;
  return {
    gate,
    order,
    page,
    counted,
    countedValue: countedValue(counted),
    examined: sql`CASE WHEN ${isPeeked} THEN ${whenPeeked} ELSE (${all}) END`,
    exact: gate.exact && judge.exact,
  };
}

/** Candidates have to be sorted: all of them are examined, and there may be no more of them than `scanLimit`. */
function sortedParts(plan: ListPlan): Parts {
  const gate = gateOf(plan);
  const { order } = plan.path;
  const { window, limit, scanLimit } = plan;
  const place = window.after === null ? null : { order, key: window.after };
  const t = columnsOfAlias(sql`_t`);
  const judge = judgeOf(plan, plan.path.rest, place === null ? empty : behind(order, place.key, t));
  const passes = place === null ? judge.passes : and([behind(order, place.key, w), judge.passes]);
  const from = (columns: readonly Sql[], limitClause: Sql) =>
    sql`${selectFrom(plan, columns, judge.probes)} WHERE ${servedSql(plan.path.served)} ${limitClause}`;
  const countLimit = sql`LIMIT ${gate.limited(param(BigInt(scanLimit + 1)))}`;
  const counted = sql`SELECT count(*) AS n, count(*) FILTER (WHERE ${passes}) AS authorized, ${judge.probed} AS probed FROM (${from([...judge.columns, ...keyColumns(order)], countLimit)}) AS _w`;
  const few = sql`CASE WHEN (SELECT n FROM _counted) <= ${param(BigInt(scanLimit))} THEN -1 ELSE 0 END`;
  // Behind a closed gate nothing is counted, which is few as well.
  const guard = sql`LIMIT ${gate.limited(few)}`;
  const page = sql`SELECT ${join(
    pageColumns(plan).map((c) => sql`_w.${c}`),
    comma,
  )} FROM (${from(pageColumns(plan, judge.columns), guard)}) AS _w WHERE ${passes}${orderBy(order, w)} LIMIT ${param(BigInt(limit + 1))} OFFSET ${param(BigInt(window.skip))}`;
  return {
    gate,
    order,
    page,
    counted,
    countedValue: countedValue(counted),
    examined: sql`(SELECT json_array(n, probed) FROM _counted)`,
    exact: gate.exact && judge.exact,
  };
}

function countedValue(counted: Sql | null): Sql {
  return counted === null
    ? sql`NULL`
    : sql`(SELECT json_array(n, ifnull(authorized, n), probed) FROM _counted)`;
}

/** What is decided once for the whole request, before any row of the table is visited. */
interface Gate {
  readonly ctes: readonly Sql[];
  /** A LIMIT that is 0 where the gate is closed. */
  readonly limited: (limit: Sql) => Sql;
  readonly counted: (count: Sql) => Sql;
  readonly visits: Sql;
  readonly exact: boolean;
  readonly exists: (exists: Exists) => Sql | null;
}

function gateOf(plan: ListPlan): Gate {
  const nodes = gateProbes(plan);
  if (nodes.length === 0 && plan.gates.length === 0)
    return {
      ctes: [],
      limited: (n) => n,
      counted: (n) => sql`(${n})`,
      visits: sql`0`,
      exact: true,
      exists: () => null,
    };
  const probes = nodes.map((node) => probe(node, rowlessScope, plan.catalog));
  const scope: Scope = { ...rowlessScope, exists: (node) => gateValue(nodes.indexOf(node)) };
  const values = probes.map(({ value }, i) => sql`${value} AS ${gateName(i)}`);
  const visits = probes.map((_, i) => sql`(SELECT ${gateName(i)} IS NOT NULL FROM _gates)`);
  const open = plan.gates.map((gate) => predicate(gate, scope));
  return {
    ctes: [
      ...(values.length === 0 ? [] : [sql`_gates AS MATERIALIZED (SELECT ${join(values, comma)})`]),
      sql`_gate AS MATERIALIZED (SELECT ${and(open)} AS open)`,
    ],
    limited: (limit) => sql`CASE WHEN (SELECT open FROM _gate) THEN ${limit} ELSE 0 END`,
    counted: (count) => sql`CASE WHEN (SELECT open FROM _gate) THEN (${count}) ELSE 0 END`,
    visits: visits.length === 0 ? sql`0` : join(visits, sql` + `),
    exact: probes.every(({ exact }) => exact),
    exists: (node) => (nodes.includes(node) ? gateValue(nodes.indexOf(node)) : null),
  };
}

/** Probes that depend on no row, in the gates themselves and inside of conditions. */
function gateProbes(plan: ListPlan): readonly Exists[] {
  return [...plan.gates, ...ruleExpressions(plan)].flatMap(outermostExists).filter(isRowless);
}

function ruleExpressions({ path }: ListPlan) {
  return path.rest.flatMap((condition) => (condition.kind === "rule" ? [condition.expression] : []));
}

function isRowless(exists: Exists): boolean {
  return columnsOf(exists, "row").size === 0;
}

const gateName = (i: number): Sql => ({ text: `"_g${i}"`, params: [] });
const gateValue = (i: number): Sql => probeMatched(sql`(SELECT ${gateName(i)} FROM _gates)`);

const rowlessScope: Scope = {
  row: () => unreachable(),
  next: () => unreachable(),
  exists: (node) => existsSql(node, rowlessScope),
};

function unreachable(): never {
  throw new Error("a gate names no column of a row");
}

/** How each candidate is judged: first by the terms that need no probe, and by probes only where those hold. */
interface Judge {
  /** Columns of the candidate that the judgement reads. */
  readonly columns: readonly Sql[];
  /** Probes as further columns of the candidate, each evaluated once. */
  readonly probes: readonly Sql[];
  readonly passes: Sql;
  /** How many rows the probes of all candidates visited. */
  readonly probed: Sql;
  readonly exact: boolean;
}

function judgeOf(plan: ListPlan, rest: readonly Condition[], alsoFirst: Sql): Judge {
  const nodes = ruleExpressions(plan)
    .flatMap(outermostExists)
    .filter((node) => !isRowless(node));
  const gate = gateProbes(plan);
  const scopeOver = (alias: Sql): Scope => ({
    row: (column) => sql`${alias}.${name(column)}`,
    next: () => unreachable(),
    exists: (node) =>
      gate.includes(node)
        ? gateValue(gate.indexOf(node))
        : probeMatched(sql`${alias}.${probeName(nodes.indexOf(node))}`),
  });
  const isCheap = (condition: Condition) =>
    condition.kind === "filter" || outermostExists(condition.expression).every((node) => gate.includes(node));
  const cheap = [
    ...(alsoFirst === empty ? [] : [alsoFirst]),
    ...rest.filter(isCheap).map((condition) => conditionSql(condition, scopeOver(sql`_t`))),
  ];
  const probes = nodes.map((node) =>
    probe(node, { ...scopeOver(sql`_t`), exists: unreachable }, plan.catalog),
  );
  const column = ({ value }: { value: Sql }, i: number) =>
    cheap.length === 0
      ? sql`${value} AS ${probeName(i)}`
      : sql`CASE WHEN ${and(cheap)} THEN ${value} END AS ${probeName(i)}`;
  const counts = nodes.map((_, i) => sql`count(_w.${probeName(i)})`);
  return {
    columns: columnsRead(rest),
    probes: probes.map(column),
    passes: and(rest.map((condition) => conditionSql(condition, scopeOver(sql`_w`)))),
    probed: counts.length === 0 ? sql`0` : join(counts, sql` + `),
    exact: probes.every(({ exact }) => exact),
  };
}

const probeName = (i: number): Sql => ({ text: `"_p${i}"`, params: [] });

function columnsRead(conditions: readonly Condition[]): readonly Sql[] {
  const names = conditions.flatMap((condition) =>
    condition.kind === "filter"
      ? [condition.filter.column.name]
      : [...columnsOf(condition.expression, "row")],
  );
  return [...new Set(names)].map(name);
}

function keyColumns(order: readonly OrderTerm[]): readonly Sql[] {
  return order.map(({ column }) => name(column.name));
}

/** Columns that the page keeps: what goes out, and the key. */
function pageColumns({ output, path }: ListPlan, more: readonly Sql[] = []): readonly Sql[] {
  return distinct([...output.map((column) => name(column.name)), ...keyColumns(path.order), ...more]);
}

function distinct(columns: readonly Sql[]): readonly Sql[] {
  return [...new Map(columns.map((column) => [column.text, column])).values()];
}

function selectFrom(plan: ListPlan, columns: readonly Sql[], probes: readonly Sql[] = []): Sql {
  // Qualified: a bare name in double quotes that is no column would be read as a text.
  const list = [...distinct(columns).map((column) => sql`_t.${column} AS ${column}`), ...probes];
  return sql`SELECT ${list.length === 0 ? sql`1` : join(list, comma)} FROM ${tableSource(plan)}`;
}

/** The table, by the way that the plan chose and no other. */
function tableSource({ table, path }: ListPlan): Sql {
  const from = sql`${name(table.name)} AS _t`;
  if (!path.steered) return from;
  return path.index === null
    ? sql`${from} NOT INDEXED`
    : sql`${from} INDEXED BY ${physicalName(path.index.name)}`;
}

/** Candidates behind the window's start, in order, range by range; each range is a seek. */
function armed(plan: ListPlan, select: Sql, limitClause: Sql, stop: Sql | null = null): Sql {
  const { path, window } = plan;
  const t = columnsOfAlias(sql`_t`);
  const bounds = stop === null ? [] : [stop];
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
  if (selects.length === 1) return selects[0]!;
  return sql`${join(
    selects.map((arm) => sql`SELECT * FROM (${arm})`),
    sql` UNION ALL `,
  )} ${limitClause}`;
}

function servedSql(served: readonly Condition[]): Sql {
  const scope: Scope = {
    row: (column) => sql`_t.${name(column)}`,
    next: () => unreachable(),
    exists: () => unreachable(),
  };
  return and(served.map((condition) => conditionSql(condition, scope)));
}

/** A bound that the arm's own range implies would only give SQLite the choice of the worse one to seek by. */
function isImplied(plan: ListPlan, arm: Arm, condition: Condition): boolean {
  if (condition.kind !== "filter" || arm.depth !== 0) return false;
  const { column, operator } = condition.filter;
  const term = plan.path.order[0]!;
  if (term.column.name !== column.name) return false;
  return term.descending ? operator.startsWith("l") : operator.startsWith("g");
}

/** NULLs are outside of every range. */
function isShutOut({ path }: ListPlan, arm: Arm): boolean {
  const range = (condition: Condition) =>
    condition.kind === "filter" &&
    /^[lg]te?$/.test(condition.filter.operator) &&
    condition.filter.column.name === path.order[arm.depth]!.column.name;
  return arm.isNullRange && path.served.some(range);
}
