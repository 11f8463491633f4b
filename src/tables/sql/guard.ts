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

/** The condition in a write's WHERE that makes it leave out a row for which its rule is not TRUE. */
export interface Guard {
  readonly condition: Sql;
  readonly exact: boolean;
  readonly seeks: readonly Seek[];
  /**
   * A SELECT `[probed]` of the number of rows that the rule's probes look up for the row of `source`; no row where
   * `where` finds none. Null where the rule has no `exists`.
   */
  measured(ctes: Sql, source: Sql, where?: Sql): Sql | null;
}

/** Terms of a rule that all have to be TRUE, and the SQL for `row`, `old` and `new` in them. */
export interface GuardPart {
  readonly terms: readonly Expression[];
  readonly names: SqlNames;
  /**
   * Whether an `exists` that an earlier part has probed is probed again for this part, because it may have another
   * result with this part's names. Without the function it always is.
   */
  readonly asksAgain?: (exists: Exists) => boolean;
}

/**
 * The guard that consists of all parts. Every probe is evaluated exactly once, whatever the result of the others, so
 * that the number of rows that they look up is known.
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
  if (probes.length === 0) return { condition: and(terms), exact: true, seeks: [], measured: () => null };
  const values = commaList(probeColumns(probes));
  return {
    // LIMIT inside and WHERE outside together keep SQLite from flattening the subquery. Flattened, each probe would
    // be evaluated again at every place where its result is used.
    condition: sql`EXISTS (SELECT 1 FROM (SELECT ${values} LIMIT 1) AS _g WHERE ${and(terms)})`,
    exact: areExact(probes),
    seeks: seeksOf(probes),
    measured: (ctes, source, where = sql`1`) =>
      sql`${ctes} SELECT ${rowsProbed(probes, sql`_g`)} AS probed FROM (SELECT ${values} FROM ${source} WHERE ${where} LIMIT 1) AS _g`,
  };
}
