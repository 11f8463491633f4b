import type { Problem } from "../../problems/problem.js";
import { fragmentProblems } from "../../project/fragment-problems.js";
import type { Schema, Table } from "../../project/model.js";
import { emptySchema } from "../../project/parse-schema.js";
import { renameProblems } from "../../project/rename-problems.js";
import { triggerProblems } from "../../project/trigger-problems.js";
import { carriedName, sqlTableName } from "../../sqlite/names.js";
import { quoteName } from "../../sqlite/sql-tokens.js";
import { childrenFirst, descendants } from "../physical/descendants.js";
import { type Physical, type PhysicalTrigger, physicalTable, sameName } from "../physical/physical.js";
import { adoptStep } from "./adopt-step.js";
import { changeSteps, dropIndexSteps, rebuildTogetherSteps } from "./change-steps.js";
import type { RowsOf } from "./column-hazards.js";
import { historySteps } from "./history-steps.js";
import { imageAfter } from "./image-after.js";
import { managedSteps } from "./managed-steps.js";
import { needsRebuild } from "./needs-rebuild.js";
import { caseProblems, findRenames, inOldNames, type Renames } from "./renames.js";
import { searchSteps } from "./search-steps.js";
import type { Step } from "./steps.js";
import { type TableChange, tableChange } from "./table-change.js";
import { compareTables, type TableComparison } from "./table-comparison.js";
import { createTableSteps, dropTableStep, renameSteps } from "./table-steps.js";
import { triggerSteps } from "./trigger-steps.js";
import { withoutOwnTriggers } from "./without-own-triggers.js";

/** With problems there are no steps. */
export interface Diff {
  readonly steps: readonly Step[];
  /**
   * Tables that are in the database already and become part of the schema as they are. The caller still has to check
   * that their texts are UTF-8.
   */
  readonly adopted: readonly Table[];
  readonly problems: readonly Problem[];
}

/** What a plan depends on besides the physical schema. */
export interface DiffOptions {
  /**
   * Whether foreign keys stay on while a schema change runs, as on D1, so that dropping a table carries out actions
   * such as ON DELETE CASCADE.
   */
  readonly foreignKeysStayOn?: boolean;
  /** The server's own triggers on the owner's tables, which `Physical` does not have. */
  readonly ownTriggers?: readonly PhysicalTrigger[];
}

/**
 * The steps from the schema in force (`current`) and from what is in the database (`found`) to the proposed schema.
 * Tables are compared, changed and rebuilt under their names in the schema in force. Renames come after that, so that
 * SQLite itself changes the old names wherever they are mentioned: in triggers, views, foreign keys and indexes.
 */
export function diff(current: Schema | null, proposed: Schema, found: Physical, options: DiffOptions = {}): Diff {
  const before = withoutMissingTables(current, found);
  const renames = findRenames(before, proposed);
  const confused = renameProblems(proposed);
  const problems = [
    ...fragmentProblems(proposed),
    ...triggerProblems(proposed, othersThan([before, proposed], found)),
    ...(confused.length > 0 ? confused : caseProblems(before, proposed, renames)),
  ];
  if (problems.length > 0) return { steps: [], adopted: [], problems };
  const trigger = triggerSteps(before, proposed, renames, found);
  const { physical } = trigger;
  const renamed = [...inOldNames(proposed, renames).tables.values()];
  const others = [...proposed.tables.values()]
    .map((named, i) => ({ named, table: renamed[i]! }))
    .filter(({ table }) => !before.tables.has(table.name));
  const isThere = ({ table }: { readonly table: Table }) => physicalTable(physical, table.name) !== undefined;
  const adopted = others.filter(isThere).map(({ named }) => named);
  const gone = childrenFirst(droppedTables(before, proposed, renames), physical);
  const comparisons = comparisonsOf(before, proposed, renames, physical);
  const needing = comparisons.filter(needsRebuild);
  const together = options.foreignKeysStayOn ? withDescendants(needing, physical) : [];
  const changes = comparisons.map((each) =>
    tableChange(each, needing.includes(each) || takesColumnsAtOnce(each, together)),
  );
  const managed = managedSteps(proposed, renames, options.ownTriggers ?? []);
  const search = searchSteps(proposed, renames, changes, physical, managed.staying);
  const history = historySteps({
    before,
    proposed,
    renames,
    changes,
    physical,
    ownTriggers: search.staying,
    preceded: new Set([...trigger.tables, ...managed.tables]),
  });
  const creation = others.filter((other) => !isThere(other)).flatMap((other) => createTableSteps(other, physical));
  const steps = withoutOwnTriggers(
    history.staying,
    gone,
    [
      ...stepsOfChanges(changes, together, gone, creation, physical, rowsIn(before, changes, physical)),
      ...gone.map((table) => dropTableStep(table, gone, before, physical, together)),
    ],
    renameSteps(renames, proposed, physical),
  );
  const adoption = adopted.map((table) => adoptStep(table, physicalTable(physical, table.name)!, physical));
  return {
    steps: [
      ...search.dropped,
      ...history.dropped,
      ...managed.dropped,
      ...trigger.dropped,
      ...steps,
      ...adoption,
      ...trigger.created,
      ...managed.created,
      ...search.created,
      ...history.created,
    ],
    adopted,
    problems: [],
  };
}

/**
 * The tables and views in the database, in lower case, that none of the schemas declares. Triggers of svc.schema.yaml
 * must not mention them.
 */
function othersThan(schemas: readonly Schema[], { tables, views }: Physical): ReadonlySet<string> {
  const declared = new Set(schemas.flatMap((schema) => [...schema.tables.keys()].map((name) => name.toLowerCase())));
  const names = [...tables.keys(), ...views.map(({ name }) => name.toLowerCase())];
  return new Set(names.filter((name) => !declared.has(name)));
}

/** Somebody may have dropped tables of the schema in force in the database. */
function withoutMissingTables(current: Schema | null, physical: Physical): Schema {
  const tables = [...(current?.tables ?? [])].filter(([name]) => physicalTable(physical, name) !== undefined);
  return { ...(current ?? emptySchema), tables: new Map(tables) };
}

function droppedTables(before: Schema, proposed: Schema, renames: Renames): Table[] {
  const kept = new Set<string>([...proposed.tables.keys(), ...renames.tables.values()]);
  return [...before.tables.values()].filter(({ name }) => !kept.has(name));
}

/** Compares each table that both the schema in force and the proposed one have, with renames taken into account. */
function comparisonsOf(before: Schema, proposed: Schema, renames: Renames, physical: Physical): TableComparison[] {
  const old = [...inOldNames(proposed, renames).tables.values()];
  const named = [...proposed.tables.values()];
  return old.flatMap((target, at) => {
    const current = before.tables.get(target.name);
    if (current === undefined) return [];
    return [compareTables(current, target, named[at]!, physicalTable(physical, target.name)!)];
  });
}

/**
 * The tables that need a rebuild and all that refer to them by foreign keys, directly or through others. If foreign
 * keys cannot be switched off, all of these are rebuilt together.
 */
function withDescendants(rebuilt: readonly TableComparison[], physical: Physical): string[] {
  const names = rebuilt
    .filter(({ current }) => !current.virtual)
    .flatMap(({ physical: { name } }) => [name, ...descendants(physical, name).map((child) => child.name)]);
  return [...new Set(names)];
}

/**
 * Whether a table is set aside with others (`together`) and has columns added or dropped as well. Then it counts as
 * rebuilt: its new CREATE TABLE includes these changes, so that no ALTER TABLE is needed.
 */
function takesColumnsAtOnce({ current, added, dropped }: TableComparison, together: readonly string[]): boolean {
  return isAmong(together, current.name) && added.length + dropped.length > 0;
}

function isAmong(names: readonly string[], name: string): boolean {
  return names.some((each) => sameName(each, name));
}

/** `creation` are the steps that create new tables. */
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
    // These come first, because tables that are rebuilt may refer to them.
    ...alone.filter(({ rebuild }) => !rebuild).flatMap((change) => changeSteps(change, physical, rowsOf)),
    ...rebuild.slice(0, 1),
    // New tables are created after the tables that are rebuilt together were set aside, and before they are brought
    // back: new and rebuilt tables may refer to each other.
    ...creation,
    ...rebuild.slice(1),
    ...alone.filter(({ rebuild }) => rebuild).flatMap((change) => changeSteps(change, physical, rowsOf)),
  ];
}

function rowsIn(before: Schema, changes: readonly TableChange[], physical: Physical): RowsOf {
  return ({ table, column }) => {
    const name = sqlTableName(table);
    const change = changes.find(({ target }) => target.name === name);
    if (change !== undefined) return imageAfter(change.current, change.target);
    return physicalTable(physical, name) === undefined || before.tables.has(name)
      ? null
      : `(SELECT ${quoteName(column)} AS ${quoteName(carriedName(column))} FROM ${quoteName(name)})`;
  };
}
