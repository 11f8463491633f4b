import type { Schema, Table } from "../../project/model.js";
import { quoteName } from "../../sqlite/sql-tokens.js";
import { declaredIndexes, indexName } from "../physical/index-shape.js";
import { type Physical, type PhysicalForeignKey, sameName } from "../physical/physical.js";
import { countRows } from "./counts.js";
import { createIndex, createTable, dropTable, renameColumn, renameTable } from "./ddl.js";
import { dependents } from "./dependents.js";
import { isPlaceholder, type Renames } from "./renames.js";
import { destructive, impossible, type Step } from "./steps.js";

/** A table that a plan creates: as svc.schema.yaml has it (`named`), and under the names before renames (`table`). */
export interface NewTable {
  readonly named: Table;
  readonly table: Table;
}

/** The steps that create a new table and its indexes. */
export function createTableSteps(created: NewTable, physical: Physical): Step[] {
  return [createTableStep(created, physical), ...newTableIndexSteps(created)];
}

function createTableStep({ named, table }: NewTable, physical: Physical): Step {
  const taken = takenBy(table.name, physical);
  return {
    kind: "create_table",
    description: `create table ${named.name}`,
    statements: [createTable(table)],
    hazards: [
      ...(table.virtual
        ? [impossible(`virtual table ${named.name} is not there, and cannot be made from the file`)]
        : []),
      ...(taken === null ? [] : [impossible(`${taken} is there already`)]),
    ],
  };
}

function newTableIndexSteps({ named, table }: NewTable): Step[] {
  const before = declaredIndexes(table);
  const shapes = new Map(declaredIndexes(named).map((shape, i) => [indexName(named.name, shape), before[i]!]));
  return [...shapes].map(([name, shape]) => ({
    kind: "create_index",
    description: `create index ${name}`,
    statements: [createIndex(table.name, shape, name)],
    hazards: [],
  }));
}

/**
 * The step that drops a table. It is impossible while something that the plan does not drop depends on the table.
 * `together` names tables that the plan has dropped already to rebuild them together; for these the step has no
 * statement.
 */
export function dropTableStep(
  table: Table,
  gone: readonly Table[],
  before: Schema,
  physical: Physical,
  together: readonly string[],
): Step {
  const isGone = (other: string) => gone.some(({ name }) => sameName(name, other));
  const users = [
    ...dependents(physical, table.name).filter(({ of }) => of === null || !isGone(of)),
    ...[...physical.tables.values()]
      .filter(({ name, foreignKeys }) => !isInSchema(name, before) && refersTo(foreignKeys, table.name))
      .map(({ name }) => ({ what: `table ${name}, which the schema in force does not have,` })),
  ];
  return {
    kind: "drop_table",
    description: `drop table ${table.name}`,
    statements: together.some((name) => sameName(name, table.name)) ? [] : [dropTable(table.name)],
    passes: [{ rows: quoteName(table.name), work: "delete" }],
    hazards: [
      destructive(`table ${table.name} is dropped with its rows`, countRows(quoteName(table.name))),
      ...users.map(({ what }) => impossible(`${what} uses ${table.name}: drop it first`)),
    ],
  };
}

function isInSchema(name: string, { tables }: Schema): boolean {
  return [...tables.keys()].some((known) => sameName(known, name));
}

function refersTo(foreignKeys: readonly PhysicalForeignKey[], table: string): boolean {
  return foreignKeys.some(({ parent }) => sameName(parent, table));
}

/** Tables are renamed before columns. What is new, and was created under a placeholder, gets its name last. */
export function renameSteps(renames: Renames, proposed: Schema, physical: Physical): Step[] {
  return [
    ...[...renames.tables].map(([to, from]) => renameTableStep(from, to, renames, physical)),
    ...[...proposed.tables.values()].flatMap((table) =>
      [...(renames.columns.get(table.name) ?? [])].map(([to, from]) => renameColumnStep(table, from, to)),
    ),
  ];
}

function renameTableStep(from: string, to: string, renames: Renames, physical: Physical): Step {
  const isFree = [...renames.tables.values()].some((old) => sameName(old, to));
  const taken = isFree ? null : takenBy(to, physical);
  return {
    kind: isPlaceholder(from) ? "create_table" : "rename_table",
    description: isPlaceholder(from) ? `name the new table ${to}` : `rename table ${from} to ${to}`,
    statements: renameStatements(from, to, renameTable),
    ...(isPlaceholder(from) ? { isOwn: true } : {}),
    hazards: taken === null ? [] : [impossible(`${taken} is there already`)],
  };
}

function renameColumnStep(table: Table, from: string, to: string): Step {
  return {
    kind: isPlaceholder(from) ? "add_column" : "rename_column",
    description: isPlaceholder(from)
      ? `name the new column ${table.name}.${to}`
      : `rename column ${table.name}.${from} to ${to}`,
    statements: renameStatements(from, to, (a, b) => renameColumn(table.name, a, b)),
    hazards: [],
    ...(isPlaceholder(from) ? { isOwn: true } : {}),
  };
}

/**
 * A rename that changes only upper and lower case goes through a temporary name, because SQLite takes the new name to
 * be in use by the old one.
 */
function renameStatements(from: string, to: string, rename: (from: string, to: string) => string): string[] {
  const between = `_rename_${to}`;
  return sameName(from, to) ? [rename(from, between), rename(between, to)] : [rename(from, to)];
}

/** The table or view in the database that already has the new name, as a phrase for messages. */
function takenBy(name: string, physical: Physical): string | null {
  if (physical.views.some((view) => sameName(view.name, name))) return `view ${name}`;
  return physical.tables.has(name.toLowerCase()) ? `table ${name}` : null;
}
