import type { Expression } from "../../rules/ast.js";
import { outermostExists } from "../../rules/walk.js";
import { columnsJudged, type ListPlan } from "../list/list-plan.js";
import type { Seek } from "../plan-check.js";
import { and, name, type Sql, sql, sum } from "./fragment.js";
import { type Gate, type Gated, isRowless } from "./gate.js";
import { namesOf, noNames, predicate, type SqlNames } from "./predicate.js";
import { areExact, probe, probeMatched, probeName, seeksOf } from "./probe.js";

/**
 * The SQL that tests whether a candidate (a row that the index has found) belongs to the list. Conditions that look up
 * no rows are tested first, and an `exists` is evaluated only for candidates that pass them.
 */
export interface Judge {
  /** The columns of the candidate that the conditions read. */
  readonly columns: readonly Sql[];
  /** The results of each `exists` as further columns of the candidate, so that each is evaluated once. */
  readonly probes: readonly Sql[];
  /** The condition that a candidate belongs to the list. It reads the candidate from the alias `_w`. */
  readonly passes: Sql;
  /** How many rows were looked up for each `exists`, for all candidates together. */
  readonly probed: Sql;
  /**
   * For candidates that are tested in groups of equal ones, with `_w._n` in each: how many rows would be looked up for
   * each `exists` if every candidate were tested by itself.
   */
  readonly probedEach: Sql;
  readonly exact: boolean;
  readonly seeks: readonly Seek[];
}

/**
 * Makes the SQL that tests the rows of a table, whose alias is `row`. `alsoFirst` are further conditions over it: for a
 * row that fails one of them no `exists` is evaluated. `passes` does not contain them; the caller adds them.
 */
export function judgeOf(
  plan: Gated & Pick<ListPlan, "table">,
  gate: Gate,
  alsoFirst: readonly Sql[],
  row: Sql = sql`_t`,
): Judge {
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
    ...rest.filter(isCheap).map((condition) => predicate(condition, namesOver(row))),
  ];
  const probes = nodes.map((node) =>
    probe(node, { ...namesOver(row), exists: noNames.exists }, plan.catalog),
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
