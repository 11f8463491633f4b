import type { Column, Table } from "../../project/model.js";
import type { ColumnReference, Expression } from "../../rules/ast.js";
import { alwaysTrue } from "../../rules/fold.js";
import { columnsOf, conjuncts } from "../../rules/walk.js";
import type { Catalog, CatalogTable } from "../../schema/catalog.js";
import { commaList, name, ownersSql, param, physicalName, type Sql, sql } from "./fragment.js";
import type { GuardPart } from "./guard.js";
import { namesOf, type SqlNames } from "./predicate.js";
import { type Values, valueSql } from "./row-key.js";

/** The row that an insert makes, as its rule reads it. */
export interface NewRow {
  /** A common table expression of one row, `_n`. Defaults are evaluated in it, once. */
  readonly cte: Sql;
  readonly names: SqlNames;
}

/** The row of an insert, with these columns of it. A column that is not among the values has its default. */
export function newRow(
  columns: readonly Column[],
  values: Values,
  physical: CatalogTable | undefined,
): NewRow {
  const sources = columns.map((column) => sql`${given(column, values)} AS ${name(column.name)}`);
  const next: SqlNames["next"] = (column) => collated(sql`_n.${name(column)}`, column, physical);
  return {
    cte: sql`_n AS MATERIALIZED (SELECT ${commaList(sources)})`,
    names: { ...namesOf(physical), next },
  };
}

/** A row of the table that is updated: what the update sets, and how its rule reads the row before and after it. */
export interface ChangedRow {
  readonly changed: Values;
  /** What names stand for in a rule where `row` is the row before the change, and where it is the row after it. */
  readonly before: SqlNames;
  readonly after: SqlNames;
  /** The rule for both. */
  readonly parts: (rule: Expression) => readonly GuardPart[];
}

/**
 * A row that an update changes as `patch` says. Where the table has a column for versions, the update raises it by one
 * (`docs/reference/rules.md#update-rules`).
 */
export function changedRow(table: Table, patch: Values, catalog: Catalog): ChangedRow {
  const physical = catalog.tables.get(table.name);
  const stored = (column: Column["name"]) => sql`${name(table.name)}.${name(column)}`;
  const raised = [...table.columns.values()]
    .filter(({ managed }) => managed === "version")
    .map((column) => [column, sql`${stored(column.name)} + 1`] as const);
  const changed: Values = new Map([...patch, ...raised]);
  const patched = new Map([...changed].map(([column, value]) => [column.name as string, value]));
  const next = (column: Column["name"]) =>
    patched.has(column) ? collated(valueSql(patched.get(column)!), column, physical) : stored(column);
  const changes = (term: Expression) => [...columnsOf(term, "row")].some((column) => patched.has(column));
  const isSaid = (source: "new" | "row") => (reference: ColumnReference) =>
    (reference.source === "new" || reference.source === source) && patched.has(reference.column);
  const names = { ...namesOf(physical), old: stored, next };
  const before = { ...names, row: stored, isSaid: isSaid("new") };
  const after = { ...names, row: next, isSaid: isSaid("row") };
  const parts: ChangedRow["parts"] = (rule) =>
    alwaysTrue(rule)
      ? []
      : [
          { terms: [rule], names: before },
          // Only terms of the rule that read a changed column can have another result for the row after the change.
          { terms: conjuncts(rule).filter(changes), names: after, asksAgain: changes },
        ];
  return { changed, before, after, parts };
}

/** What names stand for in a rule about a stored row, which SQL calls by its table. */
export function storedRow(table: Table, catalog: Catalog): SqlNames {
  const row: SqlNames["row"] = (column) => sql`${name(table.name)}.${name(column)}`;
  return { ...namesOf(catalog.tables.get(table.name)), row };
}

/**
 * A value with an explicit COLLATE where its column has a collation, so that it compares as it will when it is
 * stored.
 */
export function collated(value: Sql, column: Column["name"], physical: CatalogTable | undefined): Sql {
  const collation = physical?.collations.get(column);
  return collation === undefined ? value : sql`(${value} COLLATE ${physicalName(collation)})`;
}

function given(column: Column, values: Values): Sql {
  const value = values.get(column);
  return value === undefined ? defaultOf(column) : valueSql(value);
}

/** The value of a column in new rows that do not give one. */
export function defaultOf({ default: fallback }: Column): Sql {
  if (fallback === null) return sql`NULL`;
  if (fallback.kind === "sql") return ownersSql(fallback.sql);
  return param(typeof fallback.value === "boolean" ? BigInt(fallback.value) : fallback.value);
}
