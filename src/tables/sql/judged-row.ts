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
  /** A common table expression of one row, `_n`, the new row. Defaults are evaluated in it, once. */
  readonly cte: Sql;
  readonly names: SqlNames;
}

/** Makes the SQL of an insert's new row, with these columns. A column that is not among the values has its default. */
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
  /**
   * What names in a rule stand for: in `before`, `row` is the row before the change, and in `after` the row after it.
   */
  readonly before: SqlNames;
  readonly after: SqlNames;
  /** The parts of a guard that tests the rule for both rows, before and after the change. */
  readonly parts: (rule: Expression) => readonly GuardPart[];
}

/**
 * Makes the SQL of a row that an update changes as `patch` says. Where the table has a column for versions, the update
 * raises it by one (`docs/reference/rules.md#update-rules`).
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
          // The row after the change is tested by those terms alone that read a changed column: only these can have
          // another result.
          { terms: conjuncts(rule).filter(changes), names: after, asksAgain: changes },
        ];
  return { changed, before, after, parts };
}

/** What names stand for in a rule about a stored row, to which SQL refers by the table's name. */
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

/** The value, as SQL, that a new row gets in a column for which it gives none. */
export function defaultOf({ default: fallback }: Column): Sql {
  if (fallback === null) return sql`NULL`;
  if (fallback.kind === "sql") return ownersSql(fallback.sql);
  return param(typeof fallback.value === "boolean" ? BigInt(fallback.value) : fallback.value);
}
