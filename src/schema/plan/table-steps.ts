import type { Schema, Table } from "../../project/model.js";
import { quoteName } from "../../sqlite/sql-tokens.js";
import { declaredIndexes, indexName } from "../physical/index-shape.js";
import { type Physical, type PhysicalForeignKey, sameName } from "../physical/physical.js";
import { countRows } from "./counts.js";
import { createIndex, createTable, dropTable, renameColumn, renameTable } from "./ddl.js";
import { dependents } from "./dependents.js";
import type { Renames } from "./renames.js";
import { destructive, impossible, type Step } from "./steps.js";

/** The steps that create a new table and its indexes. */
export function createTableSteps(table: Table, physical: Physical): Step[] {
  return [createTableStep(table, physical), ...newTableIndexSteps(table)];
}

function createTableStep(table: Table, physical: Physical): Step {
  const taken = takenBy(table.name, physical);
  return {
    kind: "create_table",
    description: `create table ${table.name}`,
    statements: [createTable(table)],
    hazards: [
      ...(table.virtual
        ? [impossible(`virtual table ${table.name} is not there, and cannot be made from the file`)]
        : []),
      ...(taken === null ? [] : [impossible(`${taken} is there already`)]),
    ],
  };
}

function newTableIndexSteps(table: Table): Step[] {
  const shapes = new Map(declaredIndexes(table).map((shape) => [indexName(table.name, shape), shape]));
  return [...shapes].map(([name, shape]) => ({
    kind: "create_index",
    description: `create index ${name}`,
    statements: [createIndex(table.name, shape)],
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

/** A table is renamed before its columns. */
export function renameSteps(renames: Renames, proposed: Schema, physical: Physical): Step[] {
  return [...proposed.tables.values()].flatMap((table) => {
    const old = renames.tables.get(table.name);
    const columns = [...(renames.columns.get(table.name) ?? [])];
    return [
      ...(old === undefined ? [] : [renameTableStep(old, table.name, physical)]),
      ...columns.map(
        ([to, from]): Step => ({
          kind: "rename_column",
          description: `rename column ${table.name}.${from} to ${to}`,
          statements: renameStatements(from, to, (a, b) => renameColumn(table.name, a, b)),
          hazards: [],
        }),
      ),
    ];
  });
}

function renameTableStep(from: string, to: string, physical: Physical): Step {
  const taken = sameName(from, to) ? null : takenBy(to, physical);
  return {
    kind: "rename_table",
    description: `rename table ${from} to ${to}`,
    statements: renameStatements(from, to, renameTable),
    hazards: taken === null ? [] : [impossible(`${taken} is there already`)],
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
