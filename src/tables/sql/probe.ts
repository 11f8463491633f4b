import type { Exists } from "../../rules/ast.js";
import { conjuncts } from "../../rules/walk.js";
import type { Catalog } from "../../schema/catalog.js";
import { sqlTableName } from "../../sqlite/names.js";
import { existsPath } from "../plan/exists-path.js";
import type { Seek } from "../plan/plan-check.js";
import { aliasName, and, indexedBy, internalName, name, type Sql, sql, sum, unquoted } from "../sql-text/fragment.js";
import { existsSql, predicate, type SqlNames } from "./predicate.js";

/**
 * The SQL of an `exists` whose value also tells how many rows were looked up for it: NULL for no row, 1 for one row
 * that does not match, 2 for one row that does. Where the number cannot be known, `exact` is false, and the value is 2
 * for a match and else NULL.
 */
export interface Probe {
  readonly value: Sql;
  readonly exact: boolean;
  /**
   * How SQLite is expected to find the row that this `exists` looks up, for metering, which checks the query plan
   * against it. Null where `exact` is false.
   */
  readonly seek: Seek | null;
}

/** Makes the condition that the `exists` of a probe is TRUE. `value` is the SQL of the probe's value (see `Probe`). */
export function probeMatched(value: Sql): Sql {
  return sql`(${value} IS 2)`;
}

/**
 * Makes the probe of an `exists`: SQL that also tells how many rows it looks up. It is exact where that is one row at
 * most. Either an index serves all of the conditions, so that the first row found is a match; or some conditions give a
 * whole unique key, and the other conditions test the only row with that key.
 */
export function probe(exists: Exists, names: SqlNames, catalog: Catalog): Probe {
  const inner: SqlNames = { ...names, exists: (nested) => existsSql(nested, inner) };
  const path = existsPath(exists, catalog, names);
  if (path.kind !== "seek")
    return { value: sql`CASE WHEN ${existsSql(exists, inner)} THEN 2 END`, exact: false, seek: null };
  const served = [...path.served.values()];
  const rest = conjuncts(exists.where).filter((term) => !served.includes(term));
  const found =
    rest.length === 0 ? sql`2` : sql`CASE WHEN ${and(rest.map((t) => predicate(t, inner)))} THEN 2 ELSE 1 END`;
  const from = name(sqlTableName(exists.table));
  const where = and(served.map((term) => predicate(term, inner)));
  return {
    value: sql`(SELECT ${found} FROM ${from} AS ${aliasName(exists.alias)} ${exists.table === "$users" ? sql`` : indexedBy(path.index)} WHERE ${where} LIMIT 1)`,
    exact: true,
    seek: { alias: unquoted(aliasName(exists.alias)), columns: [...path.served.keys()] },
  };
}

/**
 * Returns how SQLite is expected to find the rows that probes look up, for metering, which checks the query plan
 * against it. Probes that are not exact are left out.
 */
export function seeksOf(probes: readonly Probe[]): readonly Seek[] {
  return probes.flatMap(({ seek }) => (seek === null ? [] : [seek]));
}

/** Returns the values of probes (see `Probe`) as columns of a subquery, which have the names that `probeName` gives. */
export function probeColumns(probes: readonly Probe[]): readonly Sql[] {
  return probes.map(({ value }, i) => sql`${value} AS ${probeName(i)}`);
}

/**
 * Makes the SQL of how many rows probes (see `Probe`) have looked up, at most one each. `alias` is a subquery with the
 * columns that `probeColumns` has made. Rows of probes that are not exact are not all counted.
 */
export function rowsProbed(probes: readonly Probe[], alias: Sql): Sql {
  return sum(probes.map((_, i) => sql`(${alias}.${probeName(i)} IS NOT NULL)`));
}

/** Whether it is known for every one of these probes (see `Probe`) how many rows it looks up. */
export function areExact(probes: readonly Probe[]): boolean {
  return probes.every(({ exact }) => exact);
}

/** Returns the name of the column that holds the value of the i-th probe (see `Probe`). */
export function probeName(i: number): Sql {
  return internalName("p", i);
}

/** Gives the results of probes that are columns of `alias` (`probeColumns`), those of `nodes` in their order. */
export function probedIn(alias: Sql, nodes: readonly Exists[]): SqlNames["exists"] {
  return (node) => probeMatched(sql`${alias}.${probeName(nodes.indexOf(node))}`);
}
