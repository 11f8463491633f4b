import type { Exists, Expression } from "../../rules/ast.js";
import { alwaysTrue } from "../../rules/fold.js";
import { outermostExists } from "../../rules/walk.js";
import type { Catalog } from "../../schema/catalog.js";
import type { Seek } from "../plan/plan-check.js";
import { and, commaList, type Sql, sql } from "../sql-text/fragment.js";
import { predicate, type SqlNames } from "./predicate.js";
import { areExact, type Probe, probe, probeColumns, probeMatched, probeName, rowsProbed, seeksOf } from "./probe.js";

/** The SQL of a write's rule, for its WHERE: a row for which the rule is not TRUE is not written. */
export interface Guard {
  readonly condition: Sql;
  readonly exact: boolean;
  readonly seeks: readonly Seek[];
  /**
   * Makes a SELECT for metering, which returns one number: how many rows are looked up for the rule's `exists` when it
   * is tested for the row of `source` for which `where` is TRUE. It returns no row where there is no such row. Null
   * where the rule has no `exists`.
   */
  measured(ctes: Sql, source: Sql, where?: Sql): Sql | null;
  /**
   * Makes a SELECT for metering, which returns one number: how many rows are looked up for the rule's `exists` when it
   * is tested for all rows of `source`. Null where the rule has no `exists`.
   */
  measuredAll(ctes: Sql, source: Sql): Sql | null;
}

/**
 * Terms of a rule, which all have to be TRUE, with the SQL that `row`, `old` and `new` stand for in them. An update's
 * rule makes two parts: `row` is first the row before the update, then the row after it.
 */
export interface GuardPart {
  readonly terms: readonly Expression[];
  readonly names: SqlNames;
  /**
   * Whether an `exists` that an earlier part has evaluated is evaluated again for this part, because `row` stands for
   * other values here, so that the result may differ. Without this function every `exists` is evaluated again.
   */
  readonly asksAgain?: (exists: Exists) => boolean;
}

/** The parts of the condition that a rule is TRUE: none where it always is. */
export function partsOf(rule: Expression, names: SqlNames): readonly GuardPart[] {
  return alwaysTrue(rule) ? [] : [{ terms: [rule], names }];
}

/**
 * Makes the condition that the terms of all parts are TRUE. Each `exists` of a part is evaluated exactly once, even
 * where another one has decided the result already, so that it is known how many rows are looked up.
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
    // LIMIT in the subquery and WHERE outside of it together keep SQLite from merging (flattening) the two SELECTs.
    // Merged, each `exists` would be evaluated again at every place where its result is used.
    condition: sql`EXISTS (SELECT 1 FROM (SELECT ${values} LIMIT 1) AS _g WHERE ${and(terms)})`,
    exact: areExact(probes),
    seeks: seeksOf(probes),
    measured: (ctes, source, where = sql`1`) =>
      sql`${ctes} SELECT ${rowsProbed(probes, sql`_g`)} AS probed FROM (SELECT ${values} FROM ${source} WHERE ${where} LIMIT 1) AS _g`,
    measuredAll: (ctes, source) =>
      sql`${ctes} SELECT sum(${rowsProbed(probes, sql`_g`)}) AS probed FROM (SELECT ${values} FROM ${source} LIMIT -1) AS _g`,
  };
}
