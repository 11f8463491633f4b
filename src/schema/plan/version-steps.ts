import { versionColumn } from "../../project/managed.js";
import type { Schema } from "../../project/model.js";
import type { PhysicalTrigger } from "../physical/physical.js";
import { isVersionTrigger, versionTriggers } from "../physical/version-triggers.js";
import { dropTrigger } from "./ddl.js";
import type { Step } from "./steps.js";

/**
 * The steps of a plan for the triggers that give rows their versions, and the server's own triggers that they leave in
 * place.
 */
export interface VersionSteps {
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

/** Makes the triggers which give rows their versions match the proposed schema. */
export function versionSteps(proposed: Schema, ownTriggers: readonly PhysicalTrigger[]): VersionSteps {
  const wanted = [...proposed.tables.values()].flatMap((table) => {
    const version = versionColumn(table);
    if (version === undefined) return [];
    const { name, primaryKey: key } = table;
    const triggers = versionTriggers({ table: name, key, version: version.name });
    const isKept = [...triggers].every(([trigger, sql]) =>
      ownTriggers.some((there) => there.name === trigger && there.sql === sql),
    );
    return [{ table: name, version: version.name, triggers, isKept }];
  });
  const kept = new Set(wanted.flatMap(({ isKept, triggers }) => (isKept ? [...triggers.keys()] : [])));
  const old = ownTriggers.filter((trigger) => isVersionTrigger(trigger) && !kept.has(trigger.name));
  const made = wanted.filter(({ isKept }) => !isKept);
  return {
    dropped: [...new Set(old.map(({ on }) => on))].map((table) => ({
      kind: "drop_trigger",
      description: `drop the triggers that raise versions of ${table}`,
      statements: old.filter(({ on }) => on === table).map(({ name }) => dropTrigger(name)),
      hazards: [],
    })),
    created: made.map(({ table, version, triggers }) => ({
      kind: "create_trigger",
      description: `raise ${table}.${version} with each change of a row`,
      statements: [...triggers.values()],
      hazards: [],
    })),
    tables: new Set(made.map(({ table }) => table)),
    staying: ownTriggers.filter((trigger) => !old.includes(trigger)),
  };
}
