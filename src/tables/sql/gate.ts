import type { Exists } from "../../rules/ast.js";
import { columnsOf, outermostExists } from "../../rules/walk.js";
import type { ListPlan } from "../list/list-plan.js";
import type { Seek } from "../plan-check.js";
import { and, commaList, internalName, type Sql, sql, sum } from "./fragment.js";
import { existsSql, noNames, predicate, type SqlNames } from "./predicate.js";
import { areExact, probe, probeMatched, seeksOf } from "./probe.js";

/**
 * The part of a list's statement that is decided once, before any row of the table is read: the terms of the rule and
 * the `exists` that depend on no row. If such a term is not TRUE, the gate is closed and no row is read.
 */
export interface Gate {
  /** Common table expressions for the list's statement, to which the other SQL of the gate refers. */
  readonly ctes: readonly Sql[];
  /** Makes an expression for LIMIT: the given number, or 0 where the gate is closed. */
  readonly limited: (limit: Sql) => Sql;
  /** Makes the SQL of a count: that of the given SELECT, or 0 where the gate is closed. */
  readonly counted: (count: Sql) => Sql;
  /** How many rows were looked up for each `exists` that the gate has evaluated. */
  readonly visits: Sql;
  readonly exact: boolean;
  readonly seeks: readonly Seek[];
  /** The SQL for the result of an `exists` that the gate has evaluated; null for any other `exists`. */
  readonly exists: (exists: Exists) => Sql | null;
}

/** A gate that is always open and adds nothing to the SQL. */
export const openGate: Gate = {
  ctes: [],
  limited: (n) => n,
  counted: (n) => sql`(${n})`,
  visits: sql`0`,
  exact: true,
  seeks: [],
  exists: () => null,
};

/** The conditions of a rule on the rows of one table, some of which depend on no row. */
export type Gated = Pick<ListPlan, "gates" | "catalog"> & { readonly path: Pick<ListPlan["path"], "rest"> };

/**
 * Makes the gate of a list. Where nothing can be decided without a row, it is always open and adds nothing to the SQL.
 * `gates` is the name of its common table expression.
 */
export function gateOf(plan: Gated, gates: Sql = sql`_gates`): Gate {
  const nodes = gateProbes(plan);
  if (nodes.length === 0 && plan.gates.length === 0) return openGate;
  const probes = nodes.map((node) => probe(node, rowlessNames, plan.catalog));
  const names: SqlNames = { ...rowlessNames, exists: (node) => probeMatched(gateName(nodes.indexOf(node))) };
  const open = sql`${and(plan.gates.map((gate) => predicate(gate, names)))} AS open`;
  const values = probes.map(({ value }, i) => sql`${value} AS ${gateName(i)}`);
  const row = values.length === 0 ? open : sql`*, ${open} FROM (SELECT ${commaList(values)})`;
  return {
    ctes: [sql`${gates} AS MATERIALIZED (SELECT ${row})`],
    limited: (limit) => sql`CASE WHEN (SELECT open FROM ${gates}) THEN ${limit} ELSE 0 END`,
    counted: (count) => sql`CASE WHEN (SELECT open FROM ${gates}) THEN (${count}) ELSE 0 END`,
    visits: sum(probes.map((_, i) => sql`(SELECT ${gateName(i)} IS NOT NULL FROM ${gates})`)),
    exact: areExact(probes),
    seeks: seeksOf(probes),
    exists: (node) =>
      nodes.includes(node)
        ? probeMatched(sql`(SELECT ${gateName(nodes.indexOf(node))} FROM ${gates})`)
        : null,
  };
}

/**
 * Every `exists` that does not depend on the listed row and is not inside another one: in the terms of the rule without
 * a row, and in the conditions that rows are tested by.
 */
function gateProbes(plan: Gated): readonly Exists[] {
  return [...plan.gates, ...plan.path.rest].flatMap(outermostExists).filter(isRowless);
}

/** Whether an `exists` names no column of the listed row, so that it has the same result for every row. */
export function isRowless(exists: Exists): boolean {
  return columnsOf(exists, "row").size === 0;
}

const gateName = (i: number): Sql => internalName("g", i);

/**
 * What names stand for within a gate: columns of a row do not occur, and an `exists` inside of another one is a plain
 * subquery.
 */
const rowlessNames: SqlNames = { ...noNames, exists: (node) => existsSql(node, rowlessNames) };
