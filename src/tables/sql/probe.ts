import type { Exists } from "../../rules/ast.js";
import { conjuncts } from "../../rules/walk.js";
import type { Catalog, CatalogIndex } from "../../schema/catalog.js";
import { sqlTableName } from "../../sqlite/names.js";
import { existsPath } from "../exists-path.js";
import type { Seek } from "../plan-check.js";
import { aliasName, and, internalName, name, physicalName, type Sql, sql, sum } from "./fragment.js";
import { existsSql, predicate, type SqlNames } from "./predicate.js";

/**
 * The SQL of an `exists` whose value also says how many rows were looked up for it: NULL for none, 1 for one row that
 * does not match, 2 for one that does. Where the number of rows cannot be known, `exact` is false, and the value is 2
 * for a match and else NULL.
 */
export interface Probe {
  readonly value: Sql;
  readonly exact: boolean;
  /** How SQLite is expected to find the row; null where `exact` is false. */
  readonly seek: Seek | null;
}

/** Whether the value of a probe says that its `exists` is TRUE. */
export function probeMatched(value: Sql): Sql {
  return sql`(${value} IS 2)`;
}

/**
 * Makes the probe of an `exists`. It is exact where at most one row has to be looked up: either an index serves all of
 * the conditions, so that the first row found is a match; or conditions give a whole unique key, and the only row of
 * that key is tested by the others.
 */
export function probe(exists: Exists, names: SqlNames, catalog: Catalog): Probe {
  const inner: SqlNames = { ...names, exists: (nested) => existsSql(nested, inner) };
  const path = existsPath(exists, catalog, names);
  if (path.kind !== "seek")
    return { value: sql`CASE WHEN ${existsSql(exists, inner)} THEN 2 END`, exact: false, seek: null };
  const served = [...path.served.values()];
  const rest = conjuncts(exists.where).filter((term) => !served.includes(term));
  const found =
    rest.length === 0
      ? sql`2`
      : sql`CASE WHEN ${and(rest.map((t) => predicate(t, inner)))} THEN 2 ELSE 1 END`;
  const from = name(sqlTableName(exists.table));
  const where = and(served.map((term) => predicate(term, inner)));
  return {
    value: sql`(SELECT ${found} FROM ${from} AS ${aliasName(exists.alias)} ${hint(exists, path.index)} WHERE ${where} LIMIT 1)`,
    exact: true,
    seek: { alias: aliasName(exists.alias).text.replaceAll('"', ""), columns: [...path.served.keys()] },
  };
}

function hint({ table }: Exists, index: CatalogIndex | null): Sql {
  if (table === "$users") return sql``;
  return index === null ? sql`NOT INDEXED` : sql`INDEXED BY ${physicalName(index.name)}`;
}

/** How SQLite is expected to find the rows of those probes that are exact. */
export function seeksOf(probes: readonly Probe[]): readonly Seek[] {
  return probes.flatMap(({ seek }) => (seek === null ? [] : [seek]));
}

/** The values of the probes as columns of a subquery, with names by `probeName`. */
export function probeColumns(probes: readonly Probe[]): readonly Sql[] {
  return probes.map(({ value }, i) => sql`${value} AS ${probeName(i)}`);
}

/**
 * How many rows the probes have looked up, at most one each. Reads the columns that `probeColumns` made from the
 * subquery `alias`. Where a probe is not exact, this is not the whole number.
 */
export function rowsProbed(probes: readonly Probe[], alias: Sql): Sql {
  return sum(probes.map((_, i) => sql`(${alias}.${probeName(i)} IS NOT NULL)`));
}

/** Whether it is known of each probe how many rows it looks up. */
export function areExact(probes: readonly Probe[]): boolean {
  return probes.every(({ exact }) => exact);
}

/** The name of the column that holds the value of the i-th probe. */
export function probeName(i: number): Sql {
  return internalName("p", i);
}
