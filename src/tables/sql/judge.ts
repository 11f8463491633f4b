import type { Expression } from "../../rules/ast.js";
import { outermostExists } from "../../rules/walk.js";
import { columnsJudged, type ListPlan } from "../list/list-plan.js";
import type { Seek } from "../plan-check.js";
import { and, name, type Sql, sql, sum } from "./fragment.js";
import { type Gate, isRowless } from "./gate.js";
import { namesOf, noNames, predicate, type SqlNames } from "./predicate.js";
import { areExact, probe, probeMatched, probeName, seeksOf } from "./probe.js";

/**
 * The SQL that tests whether a candidate belongs to the list. Conditions without an `exists` are tested first, and
 * the probes of an `exists` run only for candidates that pass them.
 */
export interface Judge {
  /** The columns of the candidate that the conditions read. */
  readonly columns: readonly Sql[];
  /** Probes as further columns of the candidate, each evaluated once. */
  readonly probes: readonly Sql[];
  /** Whether a candidate, as a row of `_w`, belongs to the list. */
  readonly passes: Sql;
  /** How many rows the probes of all candidates looked up. */
  readonly probed: Sql;
  /**
   * How many rows the probes of all candidates would look up if each candidate were tested by itself, where
   * candidates are tested in groups of `_w._n` equal ones.
   */
  readonly probedEach: Sql;
  readonly exact: boolean;
  readonly seeks: readonly Seek[];
}

/**
 * The judge of a list's plan. `alsoFirst` are further conditions over `_t`, the listed table, that spare probes: none
 * runs for a candidate that fails them. `passes` does not hold them; the caller adds them.
 */
export function judgeOf(plan: ListPlan, gate: Gate, alsoFirst: readonly Sql[]): Judge {
  const { rest } = plan.path;
  const nodes = rest.flatMap(outermostExists).filter((node) => !isRowless(node));
  const namesOver = (alias: Sql): SqlNames => ({
    ...namesOf(plan.catalog.tables.get(plan.table.name)),
    row: (column) => sql`${alias}.${name(column)}`,
    exists: (node) => gate.exists(node) ?? probeMatched(sql`${alias}.${probeName(nodes.indexOf(node))}`),
  });
  const isCheap = (condition: Expression) => outermostExists(condition).every(isRowless);
  const cheap = [
    ...alsoFirst,
    ...rest.filter(isCheap).map((condition) => predicate(condition, namesOver(sql`_t`))),
  ];
  const probes = nodes.map((node) =>
    probe(node, { ...namesOver(sql`_t`), exists: noNames.exists }, plan.catalog),
  );
  const column = ({ value }: { value: Sql }, i: number) =>
    cheap.length === 0
      ? sql`${value} AS ${probeName(i)}`
      : sql`CASE WHEN ${and(cheap)} THEN ${value} END AS ${probeName(i)}`;
  const each = nodes.map((_, i) => sql`ifnull(sum(_w._n) FILTER (WHERE _w.${probeName(i)} IS NOT NULL), 0)`);
  const counts = nodes.map((_, i) => sql`count(_w.${probeName(i)})`);
  return {
    columns: [...columnsJudged(rest)].map(name),
    probes: probes.map(column),
    passes: and(rest.map((condition) => predicate(condition, namesOver(sql`_w`)))),
    probed: sum(counts),
    probedEach: sum(each),
    exact: areExact(probes),
    seeks: seeksOf(probes),
  };
}
