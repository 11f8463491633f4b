import type { Exists, Expression } from "../../rules/ast.js";
import { outermostExists } from "../../rules/walk.js";
import type { Catalog } from "../../schema/catalog.js";
import type { Seek } from "../plan-check.js";
import { and, commaList, type Sql, sql, sum } from "./fragment.js";
import { predicate, type SqlNames } from "./predicate.js";
import { type Probe, probe, probeMatched, probeName, seeksOf } from "./probe.js";

/** What keeps a write from a row for which its rule is not TRUE. */
export interface Guard {
  readonly condition: Sql;
  readonly exact: boolean;
  readonly seeks: readonly Seek[];
  /** What the probes visit, of the row of a source; null where there are none. */
  measured(ctes: Sql, source: Sql, where?: Sql): Sql | null;
}

/** Terms that all have to be TRUE, and what their names stand for. */
export interface GuardPart {
  readonly terms: readonly Expression[];
  readonly names: SqlNames;
  /** Whether an `exists` is asked once more, where an earlier part has asked it already. All are by default. */
  readonly asksAgain?: (exists: Exists) => boolean;
}

/** A guard of all the parts. Every probe is evaluated once, whatever the others say, so that what they visit can be told. */
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
  const values = commaList(probes.map(({ value }, i) => sql`${value} AS ${probeName(i)}`));
  const visits = sum(probes.map((_, i) => sql`(_g.${probeName(i)} IS NOT NULL)`));
  return {
    // Neither LIMIT nor WHERE could be left out: they keep SQLite from evaluating a probe where it is used.
    condition: sql`EXISTS (SELECT 1 FROM (SELECT ${values} LIMIT 1) AS _g WHERE ${and(terms)})`,
    exact: probes.every(({ exact }) => exact),
    seeks: seeksOf(probes),
    measured: (ctes, source, where = sql`1`) =>
      sql`${ctes} SELECT ${visits} AS probed FROM (SELECT ${values} FROM ${source} WHERE ${where} LIMIT 1) AS _g`,
  };
}
