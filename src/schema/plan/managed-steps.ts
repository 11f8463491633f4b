import type { Schema } from "../../project/model.js";
import { isManagedTrigger, managedByChange, managedTriggers } from "../physical/managed-triggers.js";
import type { PhysicalTrigger } from "../physical/physical.js";
import { dropTrigger } from "./ddl.js";
import { isRenamed, type Renames } from "./renames.js";
import type { Step } from "./steps.js";

/**
 * The steps of a plan for the triggers that set managed columns, and the server's own triggers that they leave in place.
 */
export interface ManagedSteps {
  /** These steps drop triggers. They come before the changes of tables. */
  readonly dropped: readonly Step[];
  /**
   * These steps create triggers. They come after renames, and before the steps that create the triggers of the log of
   * changes: SQLite runs the trigger that was created last first, and the log's triggers have to run first.
   */
  readonly created: readonly Step[];
  /** The tables for which `created` has a step. */
  readonly tables: ReadonlySet<string>;
  readonly staying: readonly PhysicalTrigger[];
}

/** Makes the triggers that set managed columns match the proposed schema. */
export function managedSteps(
  proposed: Schema,
  renames: Renames,
  ownTriggers: readonly PhysicalTrigger[],
): ManagedSteps {
  const wanted = [...proposed.tables.values()].flatMap((table) => {
    const triggers = managedTriggers(table);
    if (triggers.size === 0) return [];
    const isThere = [...triggers].every(([trigger, sql]) =>
      ownTriggers.some((there) => there.name === trigger && there.sql === sql),
    );
    const named = [...table.primaryKey, ...managedByChange(table).map(({ name }) => name)];
    const isKept = isThere && !isRenamed(renames, table.name, named);
    return [{ table, triggers, isKept }];
  });
  const kept = new Set(wanted.flatMap(({ isKept, triggers }) => (isKept ? [...triggers.keys()] : [])));
  const old = ownTriggers.filter((trigger) => isManagedTrigger(trigger) && !kept.has(trigger.name));
  const made = wanted.filter(({ isKept }) => !isKept);
  return {
    dropped: [...new Set(old.map(({ on }) => on))].map((table) => ({
      kind: "drop_trigger",
      description: `drop the triggers that set managed columns of ${table}`,
      statements: old.filter(({ on }) => on === table).map(({ name }) => dropTrigger(name)),
      hazards: [],
      isOwn: true,
    })),
    created: made.map(({ table, triggers }) => ({
      kind: "create_trigger",
      description: `set ${managedByChange(table)
        .map(({ name }) => `${table.name}.${name}`)
        .join(", ")} with each change of a row`,
      statements: [...triggers.values()],
      hazards: [],
      isOwn: true,
    })),
    tables: new Set(made.map(({ table }) => table.name)),
    staying: ownTriggers.filter((trigger) => !old.includes(trigger)),
  };
}
