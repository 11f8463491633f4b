import type { Expression } from "../../rules/ast.js";
import { outermostExists } from "../../rules/walk.js";
import type { ColumnName } from "../../sqlite/names.js";
import { columnsJudged, type ListPlan } from "../plan/list-plan.js";
import type { Seek } from "../plan/plan-check.js";
import { and, carried, name, type Sql, sql, sum } from "../sql-text/fragment.js";
import { type Gate, type Gated, isRowless } from "./gate.js";
import { namesOf, noNames, predicate, type SqlNames } from "./predicate.js";
import { areExact, probe, probedIn, probeName, seeksOf } from "./probe.js";

/**
 * The SQL that tests whether a candidate belongs to the list. Conditions without an `exists` are tested first: only for
 * candidates that pass them an `exists` is evaluated. An `exists` that does not depend on the candidate is not
 * evaluated here: the gate has done that, once for the whole list.
 */
export interface Judge {
  /** The columns of a candidate that the conditions read. */
  readonly columns: readonly Sql[];
  /**
   * A column for the result of each `exists` that depends on the candidate, to be selected along with the candidates,
   * so that each is evaluated once for a candidate.
   */
  readonly probes: readonly Sql[];
  /**
   * The condition that a candidate belongs to the list. It reads the candidate's columns and the results of each
   * `exists` from the alias `_w`.
   */
  readonly passes: Sql;
  /** The SQL of how many rows were looked up for every `exists` and all candidates together. */
  readonly probed: Sql;
  /**
   * For a count that tests equal candidates as one group, whose size is `_w._n`: the SQL of how many rows would be
   * looked up for every `exists` if each candidate were tested by itself.
   */
  readonly probedEach: Sql;
  readonly exact: boolean;
  readonly seeks: readonly Seek[];
}

/**
 * Makes the SQL that tests the rows of a table, which the alias `row` names. `alsoFirst` are further conditions on a
 * row: for a row that fails one of them, no `exists` is evaluated. `passes` does not contain these further conditions,
 * so the caller has to add them.
 */
export function judgeOf(
  plan: Gated & Pick<ListPlan, "table">,
  gate: Gate,
  alsoFirst: readonly Sql[],
  row: Sql = sql`_t`,
): Judge {
  const { rest } = plan.path;
  const nodes = rest.flatMap(outermostExists).filter((node) => !isRowless(node));
  const namesOver = (alias: Sql, called: (column: ColumnName) => Sql = name): SqlNames => ({
    ...namesOf(plan.catalog.tables.get(plan.table.name)),
    row: (column) => sql`${alias}.${called(column)}`,
    exists: (node) => gate.exists(node) ?? probedIn(alias, nodes)(node),
  });
  const isCheap = (condition: Expression) => outermostExists(condition).every(isRowless);
  const cheap = [...alsoFirst, ...rest.filter(isCheap).map((condition) => predicate(condition, namesOver(row)))];
  const probes = nodes.map((node) => probe(node, { ...namesOver(row), exists: noNames.exists }, plan.catalog));
  const column = ({ value }: { value: Sql }, i: number) =>
    cheap.length === 0
      ? sql`${value} AS ${probeName(i)}`
      : sql`CASE WHEN ${and(cheap)} THEN ${value} END AS ${probeName(i)}`;
  const each = nodes.map((_, i) => sql`ifnull(sum(_w._n) FILTER (WHERE _w.${probeName(i)} IS NOT NULL), 0)`);
  const counts = nodes.map((_, i) => sql`count(_w.${probeName(i)})`);
  return {
    columns: [...columnsJudged(rest)].map(carried),
    probes: probes.map(column),
    passes: and(rest.map((condition) => predicate(condition, namesOver(sql`_w`, carried)))),
    probed: sum(counts),
    probedEach: sum(each),
    exact: areExact(probes),
    seeks: seeksOf(probes),
  };
}
