import type { Exists } from "../../project/rules/ast.js";
import { columnsOf } from "../../project/rules/columns-of.js";
import type { ListPlan } from "../list-plan.js";
import type { Seek } from "../plan-check.js";
import { and, comma, internalName, join, type Sql, sql, sum } from "./fragment.js";
import { existsSql, noScope, predicate, type Scope } from "./predicate.js";
import { outermostExists, probe, probeMatched, seeksOf } from "./probe.js";

/** What is decided once for the whole request, before any row of the table is visited. */
export interface Gate {
  readonly ctes: readonly Sql[];
  /** A LIMIT that is 0 where the gate is closed. */
  readonly limited: (limit: Sql) => Sql;
  readonly counted: (count: Sql) => Sql;
  readonly visits: Sql;
  readonly exact: boolean;
  readonly seeks: readonly Seek[];
  readonly exists: (exists: Exists) => Sql | null;
}

export function gateOf(plan: ListPlan): Gate {
  const nodes = gateProbes(plan);
  if (nodes.length === 0 && plan.gates.length === 0)
    return {
      ctes: [],
      limited: (n) => n,
      counted: (n) => sql`(${n})`,
      visits: sql`0`,
      exact: true,
      seeks: [],
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
    visits: sum(visits),
    exact: probes.every(({ exact }) => exact),
    seeks: seeksOf(probes),
    exists: (node) => (nodes.includes(node) ? gateValue(nodes.indexOf(node)) : null),
  };
}

/** Probes that depend on no row, in the gates themselves and inside of conditions. */
function gateProbes(plan: ListPlan): readonly Exists[] {
  return [...plan.gates, ...ruleExpressions(plan)].flatMap(outermostExists).filter(isRowless);
}

export function ruleExpressions({ path }: ListPlan) {
  return path.rest.flatMap((condition) => (condition.kind === "rule" ? [condition.expression] : []));
}

export function isRowless(exists: Exists): boolean {
  return columnsOf(exists, "row").size === 0;
}

const gateName = (i: number): Sql => internalName("g", i);
const gateValue = (i: number): Sql => probeMatched(sql`(SELECT ${gateName(i)} FROM _gates)`);

/** A gate names no column of a row. */
const rowlessScope: Scope = { ...noScope, exists: (node) => existsSql(node, rowlessScope) };
