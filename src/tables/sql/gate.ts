import type { Exists } from "../../rules/ast.js";
import { columnsOf, outermostExists } from "../../rules/walk.js";
import type { ListPlan } from "../list/list-plan.js";
import type { Seek } from "../plan-check.js";
import { and, commaList, internalName, type Sql, sql, sum } from "./fragment.js";
import { existsSql, noNames, predicate, type SqlNames } from "./predicate.js";
import { probe, probeMatched, seeksOf } from "./probe.js";

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
  const probes = nodes.map((node) => probe(node, rowlessNames, plan.catalog));
  const names: SqlNames = { ...rowlessNames, exists: (node) => probeMatched(gateName(nodes.indexOf(node))) };
  const open = sql`${and(plan.gates.map((gate) => predicate(gate, names)))} AS open`;
  const values = probes.map(({ value }, i) => sql`${value} AS ${gateName(i)}`);
  const row = values.length === 0 ? open : sql`*, ${open} FROM (SELECT ${commaList(values)})`;
  return {
    ctes: [sql`_gates AS MATERIALIZED (SELECT ${row})`],
    limited: (limit) => sql`CASE WHEN (SELECT open FROM _gates) THEN ${limit} ELSE 0 END`,
    counted: (count) => sql`CASE WHEN (SELECT open FROM _gates) THEN (${count}) ELSE 0 END`,
    visits: sum(probes.map((_, i) => sql`(SELECT ${gateName(i)} IS NOT NULL FROM _gates)`)),
    exact: probes.every(({ exact }) => exact),
    seeks: seeksOf(probes),
    exists: (node) =>
      nodes.includes(node) ? probeMatched(sql`(SELECT ${gateName(nodes.indexOf(node))} FROM _gates)`) : null,
  };
}

/** Probes that depend on no row, in the gates themselves and inside of conditions. */
function gateProbes(plan: ListPlan): readonly Exists[] {
  return [...plan.gates, ...plan.path.rest].flatMap(outermostExists).filter(isRowless);
}

export function isRowless(exists: Exists): boolean {
  return columnsOf(exists, "row").size === 0;
}

const gateName = (i: number): Sql => internalName("g", i);

/** A gate names no column of a row. */
const rowlessNames: SqlNames = { ...noNames, exists: (node) => existsSql(node, rowlessNames) };
