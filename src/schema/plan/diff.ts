import type { Problem } from "../../problems/problem.js";
import { fragmentProblems } from "../../project/fragment-problems.js";
import type { Schema, Table } from "../../project/model.js";
import { sqlTableName } from "../../sqlite/names.js";
import { quoteName } from "../../sqlite/sql-tokens.js";
import { type Physical, type PhysicalTrigger, physicalTable, sameName } from "../physical.js";
import { adoptStep } from "./adopt.js";
import { besideOwnTriggers } from "./beside-own-triggers.js";
import { changeSteps, dropIndexSteps, rebuildTogetherSteps } from "./change-steps.js";
import { childrenFirst, descendants } from "./children.js";
import { imageAfter } from "./images.js";
import { findRenames, inOldNames, type Renames, renameProblems } from "./renames.js";
import type { Step } from "./steps.js";
import { type TableChange, tableChange } from "./table-change.js";
import type { RowsOf } from "./table-hazards.js";
import { createTableSteps, dropTableStep, renameSteps } from "./table-steps.js";

export interface Diff {
  readonly steps: readonly Step[];
  /** Tables whose values nobody has looked at yet. */
  readonly adopted: readonly Table[];
  readonly problems: readonly Problem[];
}

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
  const before = present(current, physical);
  const renames = findRenames(before, proposed);
  const problems = [
    ...fragmentProblems(proposed),
    ...renameProblems(before, proposed, renames).map(([path, message]) => problem(path, message)),
  ];
  if (problems.length > 0) return { steps: [], adopted: [], problems };
  const others = [...proposed.tables.values()].filter((table) => !isInForce(table, before, renames));
  const adopted = others.filter((table) => physicalTable(physical, table.name) !== undefined);
  const created = others.filter((table) => !adopted.includes(table));
  const gone = childrenFirst(droppedTables(before, proposed, renames), physical);
  const creation = created.flatMap((table) => createTableSteps(table, physical));
  const changes = stepsOfChanges(before, proposed, renames, physical, gone, creation, options);
  const steps = besideOwnTriggers(
    options.ownTriggers ?? [],
    gone,
    [
      ...changes.steps,
      ...gone.map((table) => dropTableStep(table, gone, before, physical, changes.together)),
    ],
    renameSteps(renames, proposed, physical),
  );
  const adoption = adopted.map((table) => adoptStep(table, physicalTable(physical, table.name)!, physical));
  return { steps: [...steps, ...adoption], adopted, problems: [] };
}

function problem(path: string, message: string): Problem {
  return { file: "svc.schema.yaml", path, message };
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

function droppedTables(before: Schema, proposed: Schema, renames: Renames): Table[] {
  const kept = new Set<string>([...proposed.tables.keys(), ...renames.tables.values()]);
  return [...before.tables.values()].filter(({ name }) => !kept.has(name));
}

function stepsOfChanges(
  before: Schema,
  proposed: Schema,
  renames: Renames,
  physical: Physical,
  gone: readonly Table[],
  creation: readonly Step[],
  { foreignKeysStayOn = false }: DiffOptions,
): { steps: Step[]; together: readonly string[] } {
  const found = tableChanges(before, proposed, renames, physical, () => false);
  const together = foreignKeysStayOn ? rebuiltTogether(found, physical) : [];
  const isTogether = (name: string) => together.some((table) => sameName(table, name));
  // A table that is dropped and made again takes its new columns at once.
  const changes = tableChanges(
    before,
    proposed,
    renames,
    physical,
    ({ current, added, dropped }) => isTogether(current.name) && added.length + dropped.length > 0,
  );
  const rowsOf = rowsIn(before, changes, physical);
  const alone = changes.filter(({ current }) => !isTogether(current.name));
  const rebuild = rebuildTogetherSteps(together, changes, gone, physical, rowsOf);
  const steps = [
    ...changes.flatMap(dropIndexSteps),
    // What can be done without a rebuild may be what a rebuilt table refers to.
    ...alone.filter(({ rebuild }) => !rebuild).flatMap((change) => changeSteps(change, physical, rowsOf)),
    ...rebuild.slice(0, 1),
    // A new table may refer to a rebuilt one, and the other way round.
    ...creation,
    ...rebuild.slice(1),
    ...alone.filter(({ rebuild }) => rebuild).flatMap((change) => changeSteps(change, physical, rowsOf)),
  ];
  return { steps, together };
}

function tableChanges(
  before: Schema,
  proposed: Schema,
  renames: Renames,
  physical: Physical,
  isForced: (change: TableChange) => boolean,
): TableChange[] {
  const old = [...inOldNames(proposed, renames).tables.values()];
  const named = [...proposed.tables.values()];
  return old.flatMap((target, at) => {
    const current = before.tables.get(target.name);
    if (current === undefined || !isInForce(named[at]!, before, renames)) return [];
    const source = physicalTable(physical, target.name)!;
    const change = tableChange(current, target, named[at]!, source);
    return [isForced(change) ? tableChange(current, target, named[at]!, source, true) : change];
  });
}

/** Tables that are rebuilt and all that refer to them. */
function rebuiltTogether(changes: readonly TableChange[], physical: Physical): string[] {
  const rebuilt = changes.filter(({ rebuild, current }) => rebuild && !current.virtual);
  const names = rebuilt.flatMap(({ physical: { name } }) => [
    name,
    ...descendants(physical, name).map((child) => child.name),
  ]);
  return [...new Set(names)];
}

function rowsIn(before: Schema, changes: readonly TableChange[], physical: Physical): RowsOf {
  return ({ table }) => {
    const name = sqlTableName(table);
    const change = changes.find(({ target }) => target.name === name);
    if (change !== undefined) return imageAfter(change.current, change.target);
    return physicalTable(physical, name) === undefined || before.tables.has(name) ? null : quoteName(name);
  };
}
