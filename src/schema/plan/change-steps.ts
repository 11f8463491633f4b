import type { Column, Table } from "../../project/model.js";
import { overCarried } from "../../sqlite/fragment.js";
import { quoteName } from "../../sqlite/sql-tokens.js";
import type { IndexShape } from "../physical/index-shape.js";
import { ddlOf, type Physical, type PhysicalTable, physicalTable, sameName } from "../physical/physical.js";
import { addedColumnHazards, alteredColumnHazards, droppedColumnHazards, type RowsOf } from "./column-hazards.js";
import { countDuplicates } from "./counts.js";
import { addColumn, createIndex, dropColumn, dropIndex } from "./ddl.js";
import { imageAfter } from "./image-after.js";
import { rebuildHazards } from "./rebuild-hazards.js";
import { rebuildStatements } from "./rebuild-statements.js";
import { rebuildTogether } from "./rebuild-together.js";
import { shownName } from "./renames.js";
import { destructive, type Hazard, impossible, impossibleIfAny, type Pass, type Step } from "./steps.js";
import type { TableChange } from "./table-change.js";

/**
 * The steps that change a table which stays in the schema. They name the table and its columns as the schema in force
 * does, because renames come last in a plan.
 */
export function changeSteps(change: TableChange, physical: Physical, rowsOf: RowsOf): Step[] {
  if (change.current.virtual || change.target.virtual) return virtualSteps(change);
  const steps = change.rebuild ? [rebuildStep(change, physical, rowsOf)] : columnSteps(change, physical, rowsOf);
  return [...steps, ...indexSteps(change)];
}

/**
 * The columns of a virtual table are defined by its module, so adding or dropping columns is one impossible step, and
 * so is a change between a virtual and an ordinary table. Other types for its columns need no step.
 */
function virtualSteps({ current, target, added, dropped }: TableChange): Step[] {
  const same = current.virtual && target.virtual && added.length === 0 && dropped.length === 0;
  if (same) return [];
  const hazards = [impossible(`${current.name} is a virtual table: its columns cannot be changed`)];
  return [{ kind: "rebuild_table", description: `change virtual table ${current.name}`, statements: [], hazards }];
}

function columnSteps(change: TableChange, physical: Physical, rowsOf: RowsOf): Step[] {
  const { current, target, added, dropped } = change;
  return [
    ...dropped.map(
      (column): Step => ({
        kind: "drop_column",
        description: `drop column ${current.name}.${column.name}`,
        statements: [dropColumn(current.name, column.name)],
        passes: [{ rows: quoteName(current.name), work: "write" }],
        hazards: droppedColumnHazards(column, change, physical),
      }),
    ),
    ...added.map(
      (column): Step => ({
        kind: "add_column",
        description: `add column ${current.name}.${shownName(column.name)}`,
        statements: [addColumn(target, column)],
        passes: isChecked(column, change.physical) ? [{ rows: quoteName(current.name), work: "check" }] : [],
        hazards: addedColumnHazards(column, change, rowsOf),
      }),
    ),
  ];
}

/**
 * Whether SQLite checks the rows of a table when the column is added (sqlite3AlterFinishAddColumn): those of STRICT
 * tables, and those of tables with a CHECK.
 */
function isChecked({ check }: Column, table: PhysicalTable): boolean {
  const ddl = ddlOf(table);
  if (table.strict || check !== null || ddl === null) return true;
  return ddl.checks.length > 0 || [...ddl.columns.values()].some(({ checks }) => checks.length > 0);
}

/** The rows are copied, and put into the indexes that the statements of a rebuild make again. */
function rebuildPasses({ current, indexes }: TableChange): readonly Pass[] {
  const rows = quoteName(current.name);
  return [{ rows, work: "write" }, ...indexes.kept.map((): Pass => ({ rows, work: "index" }))];
}

function rebuildStep(change: TableChange, physical: Physical, rowsOf: RowsOf): Step {
  return {
    kind: "rebuild_table",
    description: `rebuild table ${change.current.name}: ${reasons(change).join(", ")}`,
    statements: rebuildStatements(change, physical),
    passes: rebuildPasses(change),
    hazards: hazardsOf(change, physical, rowsOf),
  };
}

function reasons({ added, dropped, altered, target, keyChanged, strictChanged }: TableChange): string[] {
  const what = [
    ...dropped.map(({ name }) => `drop column ${name}`),
    ...added.map(({ name }) => `add column ${shownName(name)}`),
    ...altered.map(({ after }) => `change column ${after.name}`),
    ...(keyChanged ? ["change the primary key"] : []),
    ...(strictChanged ? [target.strict ? "make it STRICT" : "make it not STRICT"] : []),
  ];
  return what.length === 0 ? ["drop a unique constraint"] : what;
}

function hazardsOf(change: TableChange, physical: Physical, rowsOf: RowsOf): Hazard[] {
  const { added, dropped, altered } = change;
  return [
    ...dropped.flatMap((column) => droppedColumnHazards(column, change, physical)),
    ...added.flatMap((column) => addedColumnHazards(column, change, rowsOf)),
    ...altered.flatMap(({ before, after }) => alteredColumnHazards(before, after, change, rowsOf)),
    ...rebuildHazards(change, physical),
  ];
}

function indexSteps(change: TableChange): Step[] {
  return change.indexes.created.map(
    ({ name, shape, isNew }): Step => ({
      kind: "create_index",
      description: `create index ${name}`,
      statements: [createIndex(change.current.name, shape, name)],
      passes: [{ rows: quoteName(change.current.name), work: "index" }],
      hazards: isNew ? newIndexHazards(shape, change) : [],
      ...(isNew ? {} : { isOwn: true }),
    }),
  );
}

/** Present rows of the table may have the same values in the columns of a new unique index. */
function newIndexHazards(shape: IndexShape, { current, target }: TableChange): Hazard[] {
  if (!shape.unique) return [];
  const columns = shape.columns.map(({ name }) => name);
  const where = shape.where === null ? null : overCarried(shape.where, target.columns.keys());
  return [
    impossibleIfAny(
      `rows of ${target.name} are not unique in (${columns.map(shownName).join(", ")})`,
      countDuplicates(imageAfter(current, target), columns, where),
    ),
  ];
}

/**
 * Drops indexes of a table. These steps come before all other changes, because SQLite does not drop a column while an
 * index covers it. The name of an index contains the names of its table and columns: if one of these is renamed, the
 * index is dropped and created again under the new name, so that the old one is free for others.
 */
export function dropIndexSteps({ current, indexes }: TableChange): Step[] {
  const drop = (name: string, hazards: readonly Hazard[]): Step => ({
    kind: "drop_index",
    description: `drop index ${name}`,
    statements: [dropIndex(name)],
    hazards,
  });
  return [
    ...indexes.stale.map(({ name }): Step => ({ ...drop(name, []), isOwn: true })),
    ...indexes.dropped.map(({ name }) => drop(name, [])),
    ...indexes.lost.map(({ name }) =>
      drop(name, [destructive(`index ${name} of ${current.name} covers a column that is dropped`)]),
    ),
  ];
}

/**
 * Two steps that rebuild several tables together, for databases whose foreign keys cannot be switched off (D1): the
 * first sets the tables aside, the second brings them back. The plan creates new tables between the two. All hazards
 * belong to the first step.
 */
export function rebuildTogetherSteps(
  names: readonly string[],
  changes: readonly TableChange[],
  gone: readonly Table[],
  physical: Physical,
  rowsOf: RowsOf,
): Step[] {
  if (names.length === 0) return [];
  const tables = names.map((name) => physicalTable(physical, name)!);
  const changed = changes.filter(({ current }) => names.some((name) => sameName(name, current.name)));
  const rebuilt = changed.filter(({ rebuild }) => rebuild);
  const what = rebuilt.map((change) => `${change.current.name} (${reasons(change).join(", ")})`);
  const { setAside, bringBack } = rebuildTogether(tables, changed, gone, physical);
  const hazards = [
    ...rebuilt.flatMap((change) => hazardsOf(change, physical, rowsOf)),
    ...changed.flatMap((change) =>
      change.indexes.created.flatMap(({ shape, isNew }) => (isNew ? newIndexHazards(shape, change) : [])),
    ),
  ];
  return [
    {
      kind: "rebuild_table",
      description: `rebuild ${what.join(", ")}: set aside ${names.join(", ")}`,
      statements: setAside,
      hazards,
      passes: names.map((name) => ({ rows: quoteName(name), work: "write" })),
    },
    {
      kind: "rebuild_table",
      description: `bring back ${names.join(", ")}`,
      statements: bringBack,
      hazards: [],
      passes: tables.flatMap(({ name, indexes }) => [
        { rows: quoteName(name), work: "write" } as const,
        ...indexes.map((): Pass => ({ rows: quoteName(name), work: "index" })),
      ]),
    },
  ];
}
