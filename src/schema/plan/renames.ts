import type { Problem } from "../../problems/problem.js";
import { schemaFile } from "../../project/file-names.js";
import type { Column, Index, Reference, Schema, Table } from "../../project/model.js";
import { withRenamedColumns } from "../../sqlite/fragment.js";
import type { ColumnName, TableName } from "../../sqlite/names.js";
import { sameName } from "../physical/physical.js";

/**
 * The renames that a plan carries out, as maps from the new names to the old ones, in the order in which each new name
 * is free. A new table or column whose name is that of a renamed one has a placeholder for its old name: it is created
 * under that, and gets its name after the other has left it.
 */
export interface Renames {
  readonly tables: ReadonlyMap<string, TableName>;
  /** By the new name of the table. */
  readonly columns: ReadonlyMap<string, ReadonlyMap<string, ColumnName>>;
}

/**
 * The renames that a proposed schema asks for by `renamed_from`. One is pending while the schema in force has the old
 * name and not the new one. In a chain, the new name is that of a table or column which is renamed itself. Any other is
 * ignored: its rename was carried out earlier.
 */
export function findRenames(current: Schema, proposed: Schema): Renames {
  const tables = renamesOf<Table>(current.tables, proposed.tables);
  const columns = new Map<string, ReadonlyMap<string, ColumnName>>();
  for (const table of proposed.tables.values()) {
    const before = current.tables.get(tables.get(table.name) ?? table.name);
    if (before !== undefined) columns.set(table.name, renamesOf<Column>(before.columns, table.columns));
  }
  return { tables, columns };
}

function renamesOf<T extends { readonly name: string; readonly renamedFrom: string | null }>(
  current: ReadonlyMap<string, T>,
  proposed: ReadonlyMap<string, T>,
): ReadonlyMap<string, T["name"]> {
  const renames = new Map<string, T["name"]>();
  const there = new Map([...current.values()].map((item) => [item.name.toLowerCase(), item]));
  const claims = new Map([...proposed.values()].map((item) => [item.renamedFrom?.toLowerCase(), item]));
  const seen = new Set<T>();
  const isPending = (item: T): boolean => {
    if (seen.has(item)) return renames.has(item.name);
    seen.add(item);
    const old = there.get(item.renamedFrom?.toLowerCase() ?? "");
    if (old === undefined || old.name === item.name) return false;
    const holder = there.get(item.name.toLowerCase());
    const next = holder === undefined || holder === old ? null : claims.get(holder.name.toLowerCase());
    if (next === undefined || (next !== null && !isPending(next))) return false;
    renames.set(item.name, old.name);
    return true;
  };
  const others = [...proposed.values()].filter((item) => !isPending(item));
  const left = new Set([...renames.values()].map((old) => old.toLowerCase()));
  for (const { name } of others) if (left.has(name.toLowerCase())) renames.set(name, `${placeholder}${name}`);
  return renames;
}

/** No name of a project begins with `_`. */
const placeholder = "_new_";

/** Whether an old name of `Renames` stands for something that the plan creates. */
export function isPlaceholder(old: string): boolean {
  return old.startsWith(placeholder);
}

/** An old name of a table or column as a person knows it: without what makes it a placeholder. */
export function shownName(old: string): string {
  return isPlaceholder(old) ? old.slice(placeholder.length) : old;
}

/** Whether a table is renamed, or one of its columns that are given here. All names are the new ones. */
export function isRenamed({ tables, columns }: Renames, table: string, of: readonly string[]): boolean {
  return tables.has(table) || of.some((column) => columns.get(table)?.has(column) === true);
}

/** Names that differ from one in force only in upper and lower case, without a `renamed_from`. */
export function caseProblems(current: Schema, proposed: Schema, renames: Renames): Problem[] {
  const problems = namesProblems(current.tables, proposed.tables, renames.tables, "");
  for (const table of proposed.tables.values()) {
    const before = current.tables.get(renames.tables.get(table.name) ?? table.name);
    const columns = renames.columns.get(table.name);
    if (before !== undefined && columns !== undefined)
      problems.push(...namesProblems(before.columns, table.columns, columns, `${table.name}.columns.`));
  }
  return problems;
}

function namesProblems(
  current: ReadonlyMap<string, unknown>,
  proposed: ReadonlyMap<string, unknown>,
  renames: ReadonlyMap<string, string>,
  path: string,
): Problem[] {
  return [...proposed.keys()].flatMap((name) => {
    if (current.has(name) || renames.has(name)) return [];
    const other = [...current.keys()].find((candidate) => sameName(candidate, name));
    if (other === undefined) return [];
    const message = `differs from ${other} in force in case alone: say renamed_from: ${other}`;
    return [{ file: schemaFile, path: `${path}${name}`, message }];
  });
}

/** The proposed schema under the names of the schema in force, so that the two can be compared. */
export function inOldNames(proposed: Schema, renames: Renames): Schema {
  const tables = [...proposed.tables.values()].map((table) => tableInOldNames(table, renames));
  return { ...proposed, tables: new Map(tables.map((table) => [table.name, table])) };
}

function tableInOldNames(table: Table, renames: Renames): Table {
  const columnRenames = renames.columns.get(table.name) ?? new Map<string, ColumnName>();
  const old = (name: ColumnName): ColumnName => columnRenames.get(name) ?? name;
  const byLowerCase = new Map([...columnRenames].map(([name, before]) => [name.toLowerCase(), before as string]));
  const fragment = (sql: string | null) => (sql === null ? null : withRenamedColumns(sql, byLowerCase));
  const columnInOldNames = (column: Column): Column => ({
    ...column,
    name: old(column.name),
    check: fragment(column.check),
    references: column.references === null ? null : referenceInOldNames(column.references, renames),
  });
  const indexInOldNames = (index: Index): Index => ({
    ...index,
    columns: index.columns.map((column) => ({ ...column, name: old(column.name) })),
    where: fragment(index.where),
  });
  return {
    ...table,
    name: renames.tables.get(table.name) ?? table.name,
    columns: new Map([...table.columns.values()].map(columnInOldNames).map((column) => [column.name, column])),
    primaryKey: table.primaryKey.map(old),
    unique: table.unique.map((columns) => columns.map(old)),
    indexes: table.indexes.map(indexInOldNames),
    search: table.search.map(old),
  };
}

function referenceInOldNames(reference: Reference, renames: Renames): Reference {
  if (reference.table === "$users") return reference;
  return {
    ...reference,
    table: renames.tables.get(reference.table) ?? reference.table,
    column: renames.columns.get(reference.table)?.get(reference.column) ?? reference.column,
  };
}
