import type { Exists, Expression } from "../../rules/ast.js";
import { outermostExists } from "../../rules/walk.js";
import type { Catalog } from "../../schema/catalog.js";
import type { Seek } from "../plan-check.js";
import { and, commaList, type Sql, sql } from "./fragment.js";
import { predicate, type SqlNames } from "./predicate.js";
import {
  areExact,
  type Probe,
  probe,
  probeColumns,
  probeMatched,
  probeName,
  rowsProbed,
  seeksOf,
} from "./probe.js";

/** The condition in the WHERE of a write that leaves out a row for which the rule is not TRUE. */
export interface Guard {
  readonly condition: Sql;
  readonly exact: boolean;
  readonly seeks: readonly Seek[];
  /**
   * For metering: a SELECT of one number, how many rows are looked up for the rule's `exists` when the row of `source`
   * for which `where` is TRUE is tested. It returns no row where there is no such row. Null where the rule has no
   * `exists`.
   */
  measured(ctes: Sql, source: Sql, where?: Sql): Sql | null;
  /**
   * For metering: a SELECT of how many rows are looked up for the rule's `exists` when all rows of `source` are tested.
   */
  measuredAll(ctes: Sql, source: Sql): Sql | null;
}

/** Terms of a rule that all have to be TRUE, and the SQL that `row`, `old` and `new` stand for in them. */
export interface GuardPart {
  readonly terms: readonly Expression[];
  readonly names: SqlNames;
  /**
   * Whether an `exists` that was evaluated for an earlier part is evaluated again for this one, because `row` stands
   * for other values here and the result may differ. Without this function it always is.
   */
  readonly asksAgain?: (exists: Exists) => boolean;
}

/**
 * Makes the guard that tests all parts. Each `exists` is evaluated, once, whatever the results of the others are, so
 * that the number of rows that are looked up is known.
 */
export function guardOf(parts: readonly GuardPart[], catalog: Catalog): Guard {
  const probes: Probe[] = [];
  const asked = new Map<Exists, number>();
  const terms = parts.flatMap(({ terms, names, asksAgain = () => true }) => {
    for (const node of terms.flatMap(outermostExists))
      if (!asked.has(node) || asksAgain(node)) asked.set(node, probes.push(probe(node, names, catalog)) - 1);
    const exists: SqlNames["exists"] = (node) => probeMatched(sql`_g.${probeName(asked.get(node)!)}`);
    return terms.map((term) => predicate(term, { ...names, exists }));
  });
  if (probes.length === 0)
    return { condition: and(terms), exact: true, seeks: [], measured: () => null, measuredAll: () => null };
  const values = commaList(probeColumns(probes));
  return {
    // LIMIT inside and WHERE outside together keep SQLite from flattening the subquery. Flattened, each `exists` would
    // be evaluated again at every place where its result is used.
    condition: sql`EXISTS (SELECT 1 FROM (SELECT ${values} LIMIT 1) AS _g WHERE ${and(terms)})`,
    exact: areExact(probes),
    seeks: seeksOf(probes),
    measured: (ctes, source, where = sql`1`) =>
      sql`${ctes} SELECT ${rowsProbed(probes, sql`_g`)} AS probed FROM (SELECT ${values} FROM ${source} WHERE ${where} LIMIT 1) AS _g`,
    measuredAll: (ctes, source) =>
      sql`${ctes} SELECT sum(${rowsProbed(probes, sql`_g`)}) AS probed FROM (SELECT ${values} FROM ${source} LIMIT -1) AS _g`,
  };
}
