import type { Exists } from "../../rules/ast.js";
import { conjuncts } from "../../rules/walk.js";
import type { Catalog, CatalogIndex } from "../../schema/catalog.js";
import { sqlTableName } from "../../sqlite/names.js";
import { existsPath } from "../exists-path.js";
import type { Seek } from "../plan-check.js";
import { aliasName, and, internalName, name, physicalName, type Sql, sql } from "./fragment.js";
import { existsSql, predicate, type SqlNames } from "./predicate.js";

/**
 * An `exists` as a value that also tells what it examined: NULL where no row was, 1 where one was that did not match,
 * 2 where one matched. `exact` is false where no index serves it and the number of rows is not known.
 */
export interface Probe {
  readonly value: Sql;
  readonly exact: boolean;
  /** Null where it is not exact. */
  readonly seek: Seek | null;
}

/** Reads a probe's value as the truth of its `exists`. */
export function probeMatched(value: Sql): Sql {
  return sql`(${value} IS 2)`;
}

/**
 * The first match ends a probe, so one that an index serves as a whole visits a single row or none. One that a whole
 * unique key serves visits that row whatever its other terms say of it.
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

/** Those of probes that are exact. */
export function seeksOf(probes: readonly Probe[]): readonly Seek[] {
  return probes.flatMap(({ seek }) => (seek === null ? [] : [seek]));
}

/** The i-th probe as a column. */
export function probeName(i: number): Sql {
  return internalName("p", i);
}
