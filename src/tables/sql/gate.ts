import type { Exists } from "../../rules/ast.js";
import { columnsOf, outermostExists } from "../../rules/walk.js";
import type { ListPlan } from "../plan/list-plan.js";
import type { Seek } from "../plan/plan-check.js";
import { and, commaList, internalName, type Sql, sql, sum } from "../sql-text/fragment.js";
import { existsSql, noNames, predicate, type SqlNames } from "./predicate.js";
import { areExact, probe, probeMatched, seeksOf } from "./probe.js";

/**
 * The part of a list's statement that is evaluated once, before any row of the table is read: the terms of the read
 * rule, and the `exists` in the conditions, that depend on no row. If such a term is not TRUE, no row can be in the
 * list: the gate is closed, and no row is read.
 */
export interface Gate {
  /** The gate's common table expressions, for the WITH of the statement. Its other members refer to them. */
  readonly ctes: readonly Sql[];
  /** Makes the expression for a LIMIT: the given number where the gate is open, 0 where it is closed. */
  readonly limited: (limit: Sql) => Sql;
  /** Makes the SQL of a count: what the SELECT returns where the gate is open, 0 where it is closed. */
  readonly counted: (count: Sql) => Sql;
  /** The SQL of how many rows the gate has looked up, for all of its `exists` together. */
  readonly visits: Sql;
  readonly exact: boolean;
  readonly seeks: readonly Seek[];
  /** The SQL of the result of an `exists`; null for one that the gate does not evaluate. */
  readonly exists: (exists: Exists) => Sql | null;
}

/** A gate that is always open, where nothing can be decided before rows are read. It adds nothing to the SQL. */
export const openGate: Gate = {
  ctes: [],
  limited: (n) => n,
  counted: (n) => sql`(${n})`,
  visits: sql`0`,
  exact: true,
  seeks: [],
  exists: () => null,
};

/** The conditions on rows of a table: `gates` depend on no row, each row is tested by `path.rest`. */
export type Gated = Pick<ListPlan, "gates" | "catalog"> & { readonly path: Pick<ListPlan["path"], "rest"> };

/**
 * Makes the gate of a list: the part of its statement that is evaluated before any row is read. Where nothing can be
 * decided without a row, the gate is always open and adds nothing to the SQL. `gates` is the name for the gate's common
 * table expression.
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
      nodes.includes(node) ? probeMatched(sql`(SELECT ${gateName(nodes.indexOf(node))} FROM ${gates})`) : null,
  };
}

/** A gate that is open where `gate` is and the condition holds, for which it has these common table expressions, too. */
export function narrowed(gate: Gate, ctes: readonly Sql[], isOpen: Sql): Gate {
  return {
    ...gate,
    ctes: [...gate.ctes, ...ctes],
    limited: (limit) => sql`CASE WHEN ${isOpen} THEN ${gate.limited(limit)} ELSE 0 END`,
    counted: (count) => sql`CASE WHEN ${isOpen} THEN ${gate.counted(count)} ELSE 0 END`,
  };
}

/**
 * Each `exists` that the gate evaluates: those that do not depend on the listed row and are not inside of another
 * `exists`. They come from the terms of the rule that name no row, and from the conditions that rows are tested by.
 */
function gateProbes(plan: Gated): readonly Exists[] {
  return [...plan.gates, ...plan.path.rest].flatMap(outermostExists).filter(isRowless);
}

/** Whether an `exists` names no column of the listed row, so that its result is the same for every row. */
export function isRowless(exists: Exists): boolean {
  return columnsOf(exists, "row").size === 0;
}

const gateName = (i: number): Sql => internalName("g", i);

/**
 * The SQL for names in the gate's conditions, which name no column of a listed row. An `exists` inside of another one
 * becomes a plain subquery.
 */
const rowlessNames: SqlNames = { ...noNames, exists: (node) => existsSql(node, rowlessNames) };
