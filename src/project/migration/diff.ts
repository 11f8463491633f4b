import type { Schema, Table } from "../model.js";
import type { Problem } from "../problem.js";
import { adoptStep, takenBy } from "./adopt.js";
import { childrenFirst, orderHazards, parentsFirst, rebuildWithChildren } from "./children.js";
import {
  addColumn,
  createIndex,
  createTable,
  dropColumn,
  dropIndex,
  dropTable,
  indexName,
  renameColumn,
  renameTable,
} from "./ddl.js";
import { fragmentProblems } from "./fragment-problems.js";
import { countRows, imageAfter } from "./images.js";
import { type Physical, type PhysicalForeignKey, physicalTable, sameName } from "./physical.js";
import { rebuildStatements } from "./rebuild.js";
import { findRenames, inOldNames, type Renames, renameProblems } from "./renames.js";
import { quoteName } from "./sql-tokens.js";
import { destructive, type Hazard, impossible, type Step } from "./steps.js";
import { declaredIndexes, type TableChange, tableChange } from "./table-change.js";
import {
  addedColumnHazards,
  alteredColumnHazards,
  dependents,
  droppedColumnHazards,
  newIndexHazards,
  type RowsOf,
  rebuildHazards,
} from "./table-hazards.js";

export interface Diff {
  readonly steps: readonly Step[];
  /** Tables whose values nobody has looked at yet. */
  readonly adopted: readonly Table[];
  readonly problems: readonly Problem[];
}

export interface DiffOptions {
  /** The database carries out foreign key actions even while it migrates (D1). */
  readonly foreignKeysStayOn?: boolean;
}

/**
 * The steps from the schema in force, and from what is physically there, to the proposal. Tables are compared, changed
 * and rebuilt under the names that are in force; renames come after, so that SQLite rewrites whatever speaks of them
 * (triggers, views, foreign keys), and indexes, which are named after tables and columns, come last.
 */
export function diff(
  current: Schema | null,
  proposed: Schema,
  physical: Physical,
  { foreignKeysStayOn = false }: DiffOptions = {},
): Diff {
  const before = present(current, physical);
  const renames = findRenames(before, proposed);
  const problems = [
    ...fragmentProblems(proposed),
    ...renameProblems(before, proposed, renames).map(([path, message]) => ({
      file: "svc.schema.yaml",
      path,
      message,
    })),
  ];
  if (problems.length > 0) return { steps: [], adopted: [], problems };
  const changes = parentsFirst(tableChanges(before, proposed, renames, physical), physical);
  const rebuild = foreignKeysStayOn ? rebuilderWithChildren(changes, physical) : rebuilder(physical);
  const rowsOf = rowsIn(before, changes, physical);
  const others = [...proposed.tables.values()].filter((table) => !isInForce(table, before, renames));
  const adopted = others.filter((table) => physicalTable(physical, table.name) !== undefined);
  const created = others.filter((table) => !adopted.includes(table));
  const gone = childrenFirst(droppedTables(before, proposed, renames), physical);
  const steps = [
    ...changes.flatMap((change) => dropIndexSteps(change)),
    ...changes.flatMap((change) => tableSteps(change, physical, rowsOf, rebuild)),
    ...gone.map((table) => dropTableStep(table, gone, before, physical)),
    ...renameSteps(renames, proposed, physical),
    ...adopted.map((table) => adoptStep(table, physicalTable(physical, table.name)!, physical)),
    ...created.map((table) => createTableStep(table, physical)),
    ...changes.flatMap((change) => createIndexSteps(change, renames)),
    ...created.flatMap(newTableIndexSteps),
  ];
  return { steps, adopted, problems: [] };
}

/** The schema in force without tables that somebody has dropped behind the server's back. */
function present(current: Schema | null, physical: Physical): Schema {
  const tables = [...(current?.tables ?? [])].filter(([name]) => physicalTable(physical, name) !== undefined);
  return { ...(current ?? emptySchema), tables: new Map(tables) };
}

const emptySchema: Schema = {
  tables: new Map(),
  auth: {
    registration: "public",
    emailVerification: { required: false, url: "" },
    invitationUrl: "",
    passwordResetUrl: "",
    providers: [],
    redirectUrls: [],
  },
  origins: [],
};

function isInForce(table: Table, before: Schema, renames: Renames): boolean {
  return before.tables.has(renames.tables.get(table.name) ?? table.name);
}

function tableChanges(before: Schema, proposed: Schema, renames: Renames, physical: Physical): TableChange[] {
  const old = [...inOldNames(proposed, renames).tables.values()];
  const named = [...proposed.tables.values()];
  return old.flatMap((target, at) => {
    const current = before.tables.get(target.name);
    if (current === undefined || !isInForce(named[at]!, before, renames)) return [];
    return [tableChange(current, target, named[at]!, physicalTable(physical, target.name)!)];
  });
}

function rowsIn(before: Schema, changes: readonly TableChange[], physical: Physical): RowsOf {
  return ({ table }) => {
    const name = table === "$users" ? "_users" : table;
    const change = changes.find(({ target }) => target.name === name);
    if (change !== undefined) return imageAfter(change.current, change.target);
    return physicalTable(physical, name) === undefined || before.tables.has(name) ? null : quoteName(name);
  };
}

function dropIndexSteps({ current, indexes }: TableChange): Step[] {
  const drop = (name: string, hazards: readonly Hazard[]): Step => ({
    kind: "drop_index",
    description: `drop index ${name}`,
    statements: [dropIndex(name)],
    hazards,
  });
  return [
    ...indexes.dropped.map(({ name }) => drop(name, [])),
    ...indexes.lost.map(({ name }) =>
      drop(name, [destructive(`index ${name} of ${current.name} covers a column that is dropped`)]),
    ),
  ];
}

type Rebuilder = (change: TableChange) => Pick<Step, "statements" | "hazards">;

function rebuilder(physical: Physical): Rebuilder {
  return (change) => ({ statements: rebuildStatements(change, physical), hazards: [] });
}

function rebuilderWithChildren(changes: readonly TableChange[], physical: Physical): Rebuilder {
  const gone = changes.flatMap(({ indexes }) =>
    [...indexes.dropped, ...indexes.lost].map(({ name }) => name),
  );
  return (change) => ({
    statements: rebuildWithChildren(change, physical, new Set(gone)),
    hazards: orderHazards(change, changes.slice(0, changes.indexOf(change)), physical),
  });
}

function tableSteps(change: TableChange, physical: Physical, rowsOf: RowsOf, rebuild: Rebuilder): Step[] {
  if (change.current.virtual || change.target.virtual) return virtualSteps(change);
  return change.rebuild
    ? [rebuildStep(change, physical, rowsOf, rebuild(change))]
    : columnSteps(change, physical, rowsOf);
}

/** What a virtual table's columns are is its module's affair; how they are read may change. */
function virtualSteps({ current, target, added, dropped }: TableChange): Step[] {
  const same = current.virtual && target.virtual && added.length === 0 && dropped.length === 0;
  if (same) return [];
  const hazards = [impossible(`${current.name} is a virtual table: its columns cannot be changed`)];
  return [
    { kind: "rebuild_table", description: `change virtual table ${current.name}`, statements: [], hazards },
  ];
}

function columnSteps(change: TableChange, physical: Physical, rowsOf: RowsOf): Step[] {
  const { current, target, added, dropped } = change;
  return [
    ...dropped.map(
      (column): Step => ({
        kind: "drop_column",
        description: `drop column ${current.name}.${column.name}`,
        statements: [dropColumn(current.name, column.name)],
        hazards: droppedColumnHazards(column, change, physical),
      }),
    ),
    ...added.map(
      (column): Step => ({
        kind: "add_column",
        description: `add column ${current.name}.${column.name}`,
        statements: [addColumn(target, column)],
        hazards: addedColumnHazards(column, change, rowsOf),
      }),
    ),
  ];
}

function rebuildStep(
  change: TableChange,
  physical: Physical,
  rowsOf: RowsOf,
  rebuilt: ReturnType<Rebuilder>,
): Step {
  const { current, target, added, dropped, altered, keyChanged, strictChanged } = change;
  const what = [
    ...dropped.map(({ name }) => `drop column ${name}`),
    ...added.map(({ name }) => `add column ${name}`),
    ...altered.map(({ after }) => `change column ${after.name}`),
    ...(keyChanged ? ["change the primary key"] : []),
    ...(strictChanged ? [target.strict ? "make it STRICT" : "make it not STRICT"] : []),
  ];
  return {
    kind: "rebuild_table",
    description: `rebuild table ${current.name}: ${what.length === 0 ? "drop a unique constraint" : what.join(", ")}`,
    statements: rebuilt.statements,
    hazards: [
      ...rebuilt.hazards,
      ...dropped.flatMap((column) => droppedColumnHazards(column, change, physical)),
      ...added.flatMap((column) => addedColumnHazards(column, change, rowsOf)),
      ...altered.flatMap(({ before, after }) => alteredColumnHazards(before, after, change, rowsOf)),
      ...rebuildHazards(change, physical),
    ],
  };
}

function droppedTables(before: Schema, proposed: Schema, renames: Renames): Table[] {
  const kept = new Set<string>([...proposed.tables.keys(), ...renames.tables.values()]);
  return [...before.tables.values()].filter(({ name }) => !kept.has(name));
}

function dropTableStep(table: Table, gone: readonly Table[], before: Schema, physical: Physical): Step {
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
    statements: [dropTable(table.name)],
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

function renameSteps(renames: Renames, proposed: Schema, physical: Physical): Step[] {
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

/** SQLite takes a name that differs in case alone for the same one. */
function renameStatements(from: string, to: string, rename: (from: string, to: string) => string): string[] {
  const between = `_rename_${to}`;
  return sameName(from, to) ? [rename(from, between), rename(between, to)] : [rename(from, to)];
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

function createIndexSteps(change: TableChange, renames: Renames): Step[] {
  const named = newNameOf(change.target, renames);
  return change.indexes.created.map(({ shape, oldShape, isNew }) => ({
    kind: "create_index",
    description: `create index ${indexName(named, shape)}`,
    statements: [createIndex(named, shape)],
    hazards: isNew ? newIndexHazards(oldShape, change) : [],
  }));
}

function newNameOf(target: Table, renames: Renames): string {
  const renamed = [...renames.tables].find(([, old]) => old === target.name);
  return renamed?.[0] ?? target.name;
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
