import type { Problem } from "../../problems/problem.js";
import { fragmentProblems } from "../../project/fragment-problems.js";
import type { Schema, Table } from "../../project/model.js";
import { emptySchema } from "../../project/parse-schema.js";
import { sqlTableName } from "../../sqlite/names.js";
import { quoteName } from "../../sqlite/sql-tokens.js";
import { childrenFirst, descendants } from "../descendants.js";
import { type Physical, type PhysicalTrigger, physicalTable, sameName } from "../physical.js";
import { adoptStep } from "./adopt-step.js";
import { besideOwnTriggers } from "./beside-own-triggers.js";
import { changeSteps, dropIndexSteps, rebuildTogetherSteps } from "./change-steps.js";
import type { RowsOf } from "./column-hazards.js";
import { imageAfter } from "./image-after.js";
import { needsRebuild } from "./needs-rebuild.js";
import { findRenames, inOldNames, type Renames, renameProblems } from "./renames.js";
import type { Step } from "./steps.js";
import { type TableChange, tableChange } from "./table-change.js";
import { compareTables, type TableComparison } from "./table-comparison.js";
import { createTableSteps, dropTableStep, renameSteps } from "./table-steps.js";

/** What is to be done, or what is wrong with the proposal: with problems there are no steps. */
export interface Diff {
  readonly steps: readonly Step[];
  /** Tables whose values nobody has looked at yet. */
  readonly adopted: readonly Table[];
  readonly problems: readonly Problem[];
}

/** What of the database a plan depends on beside its physical schema. */
export interface DiffOptions {
  /** The database carries out foreign key actions even while it migrates (D1). */
  readonly foreignKeysStayOn?: boolean;
  /** The service's own triggers, which `Physical` does not have. */
  readonly ownTriggers?: readonly PhysicalTrigger[];
}

/**
 * The steps from the schema in force, and from what is physically there, to the proposal. Tables are compared, changed
 * and rebuilt under the names that are in force; renames come after, so that SQLite rewrites whatever speaks of them:
 * triggers, views, foreign keys, indexes.
 */
export function diff(
  current: Schema | null,
  proposed: Schema,
  physical: Physical,
  options: DiffOptions = {},
): Diff {
  const before = withoutMissingTables(current, physical);
  const renames = findRenames(before, proposed);
  const problems = [...fragmentProblems(proposed), ...renameProblems(before, proposed, renames)];
  if (problems.length > 0) return { steps: [], adopted: [], problems };
  const others = [...proposed.tables.values()].filter((table) => !isInForce(table, before, renames));
  const adopted = others.filter((table) => physicalTable(physical, table.name) !== undefined);
  const created = others.filter((table) => !adopted.includes(table));
  const gone = childrenFirst(droppedTables(before, proposed, renames), physical);
  const comparisons = comparisonsOf(before, proposed, renames, physical);
  const needing = comparisons.filter(needsRebuild);
  const together = options.foreignKeysStayOn ? withDescendants(needing, physical) : [];
  const changes = comparisons.map((each) =>
    tableChange(each, needing.includes(each) || takesColumnsAtOnce(each, together)),
  );
  const creation = created.flatMap((table) => createTableSteps(table, physical));
  const steps = besideOwnTriggers(
    options.ownTriggers ?? [],
    gone,
    [
      ...stepsOfChanges(changes, together, gone, creation, physical, rowsIn(before, changes, physical)),
      ...gone.map((table) => dropTableStep(table, gone, before, physical, together)),
    ],
    renameSteps(renames, proposed, physical),
  );
  const adoption = adopted.map((table) => adoptStep(table, physicalTable(physical, table.name)!, physical));
  return { steps: [...steps, ...adoption], adopted, problems: [] };
}

/** The schema in force without tables that somebody has dropped behind the service's back. */
function withoutMissingTables(current: Schema | null, physical: Physical): Schema {
  const tables = [...(current?.tables ?? [])].filter(([name]) => physicalTable(physical, name) !== undefined);
  return { ...(current ?? emptySchema), tables: new Map(tables) };
}

function isInForce(table: Table, before: Schema, renames: Renames): boolean {
  return before.tables.has(renames.tables.get(table.name) ?? table.name);
}

function droppedTables(before: Schema, proposed: Schema, renames: Renames): Table[] {
  const kept = new Set<string>([...proposed.tables.keys(), ...renames.tables.values()]);
  return [...before.tables.values()].filter(({ name }) => !kept.has(name));
}

/** Each table that is in force and stays, beside what it is to be. */
function comparisonsOf(
  before: Schema,
  proposed: Schema,
  renames: Renames,
  physical: Physical,
): TableComparison[] {
  const old = [...inOldNames(proposed, renames).tables.values()];
  const named = [...proposed.tables.values()];
  return old.flatMap((target, at) => {
    const current = before.tables.get(target.name);
    if (current === undefined || !isInForce(named[at]!, before, renames)) return [];
    return [compareTables(current, target, named[at]!, physicalTable(physical, target.name)!)];
  });
}

/** Physical names of the tables that are rebuilt and of all that refer to them: where foreign keys stay on, they go together. */
function withDescendants(rebuilt: readonly TableComparison[], physical: Physical): string[] {
  const names = rebuilt
    .filter(({ current }) => !current.virtual)
    .flatMap(({ physical: { name } }) => [name, ...descendants(physical, name).map((child) => child.name)]);
  return [...new Set(names)];
}

/** A table that is dropped and made again beside others is made with its new columns. */
function takesColumnsAtOnce(
  { current, added, dropped }: TableComparison,
  together: readonly string[],
): boolean {
  return isAmong(together, current.name) && added.length + dropped.length > 0;
}

function isAmong(names: readonly string[], name: string): boolean {
  return names.some((each) => sameName(each, name));
}

/** @param creation the steps for tables that are new */
function stepsOfChanges(
  changes: readonly TableChange[],
  together: readonly string[],
  gone: readonly Table[],
  creation: readonly Step[],
  physical: Physical,
  rowsOf: RowsOf,
): Step[] {
  const alone = changes.filter(({ current }) => !isAmong(together, current.name));
  const rebuild = rebuildTogetherSteps(together, changes, gone, physical, rowsOf);
  return [
    ...changes.flatMap(dropIndexSteps),
    // What can be done without a rebuild may be what a rebuilt table refers to.
    ...alone.filter(({ rebuild }) => !rebuild).flatMap((change) => changeSteps(change, physical, rowsOf)),
    ...rebuild.slice(0, 1),
    // A new table may refer to a rebuilt one, and the other way round.
    ...creation,
    ...rebuild.slice(1),
    ...alone.filter(({ rebuild }) => rebuild).flatMap((change) => changeSteps(change, physical, rowsOf)),
  ];
}

function rowsIn(before: Schema, changes: readonly TableChange[], physical: Physical): RowsOf {
  return ({ table }) => {
    const name = sqlTableName(table);
    const change = changes.find(({ target }) => target.name === name);
    if (change !== undefined) return imageAfter(change.current, change.target);
    return physicalTable(physical, name) === undefined || before.tables.has(name) ? null : quoteName(name);
  };
}
