import type { Problem } from "../../problems/problem.js";
import { schemaFile } from "../../project/file-names.js";
import type { Column, Index, Reference, Schema, Table } from "../../project/model.js";
import { withRenamedColumns } from "../../sqlite/fragment.js";
import type { ColumnName, TableName } from "../../sqlite/names.js";
import { sameName } from "../physical/physical.js";

/** The renames that a plan carries out, as maps from the new names to the old ones. */
export interface Renames {
  readonly tables: ReadonlyMap<string, TableName>;
  /** By the new name of the table. */
  readonly columns: ReadonlyMap<string, ReadonlyMap<string, ColumnName>>;
}

/**
 * The renames that a proposed schema asks for by `renamed_from`. It counts if the schema in force has the old name and
 * not the new one, and the proposed schema does not have the old one. Any other is ignored: its rename was carried out
 * earlier.
 */
export function findRenames(current: Schema, proposed: Schema): Renames {
  const tables = new Map<string, TableName>();
  const columns = new Map<string, ReadonlyMap<string, ColumnName>>();
  for (const table of proposed.tables.values()) {
    const old = renamed(table, current.tables, proposed.tables);
    if (old !== null) tables.set(table.name, old.name);
    const before = old ?? current.tables.get(table.name);
    if (before !== undefined) columns.set(table.name, renamedColumns(before, table));
  }
  return { tables, columns };
}

function renamedColumns(before: Table, table: Table): ReadonlyMap<string, ColumnName> {
  const renames = new Map<string, ColumnName>();
  for (const column of table.columns.values()) {
    const old = renamed(column, before.columns, table.columns);
    if (old !== null) renames.set(column.name, old.name);
  }
  return renames;
}

function renamed<T extends { name: string; renamedFrom: string | null }>(
  item: T,
  current: ReadonlyMap<string, T>,
  proposed: ReadonlyMap<string, T>,
): T | null {
  if (item.renamedFrom === null || proposed.has(item.renamedFrom) || current.has(item.name)) return null;
  return current.get(item.renamedFrom) ?? null;
}

/**
 * Two items that are renamed from the same name, and a name that differs from one in force only in upper and lower
 * case, without a `renamed_from`.
 */
export function renameProblems(current: Schema, proposed: Schema, renames: Renames): Problem[] {
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
  const problems: Problem[] = [];
  const report = (name: string, message: string) =>
    problems.push({ file: schemaFile, path: `${path}${name}`, message });
  const taken = new Set<string>();
  for (const [name, old] of renames) {
    if (taken.has(old)) report(name, `renamed_from: ${old} is claimed twice`);
    taken.add(old);
  }
  for (const name of proposed.keys()) {
    if (current.has(name) || renames.has(name)) continue;
    const other = [...current.keys()].find((candidate) => sameName(candidate, name));
    if (other !== undefined) report(name, `differs from ${other} in force in case alone: say renamed_from: ${other}`);
  }
  return problems;
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
