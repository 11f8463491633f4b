import type { Expression } from "../../rules/ast.js";
import { outermostExists } from "../../rules/walk.js";
import { columnsJudged, type ListPlan } from "../list/list-plan.js";
import type { Seek } from "../plan-check.js";
import { and, name, type Sql, sql, sum } from "./fragment.js";
import { type Gate, isRowless } from "./gate.js";
import { namesOf, noNames, predicate, type SqlNames } from "./predicate.js";
import { probe, probeMatched, probeName, seeksOf } from "./probe.js";

/** How each candidate is judged: first by the terms that need no probe, and by probes only where those hold. */
export interface Judge {
  /** Columns of the candidate that the judgement reads. */
  readonly columns: readonly Sql[];
  /** Probes as further columns of the candidate, each evaluated once. */
  readonly probes: readonly Sql[];
  readonly passes: Sql;
  /** How many rows the probes of all candidates visited. */
  readonly probed: Sql;
  /** The same if each of `_w._n` candidates had been judged by itself. */
  readonly probedEach: Sql;
  readonly exact: boolean;
  readonly seeks: readonly Seek[];
}

/** `alsoFirst` are further terms that come before any probe, over the table's alias `_t`. */
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
    exact: probes.every(({ exact }) => exact),
    seeks: seeksOf(probes),
  };
}
