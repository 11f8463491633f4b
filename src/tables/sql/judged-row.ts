import type { Column, Table } from "../../project/model.js";
import type { ColumnReference, Expression } from "../../rules/ast.js";
import { alwaysTrue } from "../../rules/fold.js";
import { columnsOf, conjuncts } from "../../rules/walk.js";
import type { Catalog, CatalogTable } from "../../schema/catalog.js";
import { carried, commaList, name, ownersSql, param, physicalName, type Sql, sql } from "../sql-text/fragment.js";
import type { GuardPart } from "./guard.js";
import { namesOf, type SqlNames } from "./predicate.js";
import { type Values, valueSql } from "./row-key.js";

/**
 * Makes the row that an insert makes, with these columns, as a common table expression `_n`, which the rule reads as
 * `new`. Columns without a value get their defaults, which are evaluated in it, once, so that the rule sees what is
 * stored.
 */
export function newRow(
  columns: readonly Column[],
  values: Values,
  physical: CatalogTable | undefined,
): { readonly cte: Sql; readonly names: SqlNames } {
  const sources = columns.map((column) => sql`${given(column, values)} AS ${carried(column.name)}`);
  const next: SqlNames["next"] = (column) => collated(sql`_n.${carried(column)}`, column, physical);
  return {
    cte: sql`_n AS MATERIALIZED (SELECT ${commaList(sources)})`,
    names: { ...namesOf(physical), next },
  };
}

/** A row that an update changes: what is set, and the SQL by which its rule reads the row before and after. */
export interface ChangedRow {
  readonly changed: Values;
  /** Names in the rule of an update: `row` is in `before` the row before the change, in `after` the one after it. */
  readonly before: SqlNames;
  readonly after: SqlNames;
  /** Makes the parts of the condition (`guardOf`) that tests the rule for the row before and for the row after. */
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
          // The rule has been tested for the row before the change. For the row after it, only those terms are tested
          // that read a changed column, because the others have the same result.
          { terms: conjuncts(rule).filter(changes), names: after, asksAgain: changes },
        ];
  return { changed, before, after, parts };
}

/** Names in a rule about a stored row, whose table the statement calls by its own name. */
export function storedRow(table: Table, catalog: Catalog): SqlNames {
  const row: SqlNames["row"] = (column) => sql`${name(table.name)}.${name(column)}`;
  return { ...namesOf(catalog.tables.get(table.name)), row };
}

/**
 * Returns the SQL of a value as a rule compares it before it is stored in a column. Where the column has a collation,
 * the value gets it by COLLATE, so that the rule compares it as it will be compared once it is stored.
 */
export function collated(value: Sql, column: Column["name"], physical: CatalogTable | undefined): Sql {
  const collation = physical?.collations.get(column);
  return collation === undefined ? value : sql`(${value} COLLATE ${physicalName(collation)})`;
}

function given(column: Column, values: Values): Sql {
  const value = values.get(column);
  return value === undefined ? defaultOf(column) : valueSql(value);
}

/** Returns the SQL of what a new row gets in a column without a value: the column's default, else NULL. */
export function defaultOf({ default: fallback }: Column): Sql {
  if (fallback === null) return sql`NULL`;
  if (fallback.kind === "sql") return ownersSql(fallback.sql);
  return param(typeof fallback.value === "boolean" ? BigInt(fallback.value) : fallback.value);
}
