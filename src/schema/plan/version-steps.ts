import { versionColumn } from "../../project/managed.js";
import type { Schema } from "../../project/model.js";
import type { PhysicalTrigger } from "../physical.js";
import { isVersionTrigger, versionTriggers } from "../version-triggers.js";
import { dropTrigger } from "./ddl.js";
import type { Step } from "./steps.js";

/**
 * The steps for the triggers that keep versions of rows, and the server's own triggers that these steps leave in place.
 */
export interface VersionSteps {
  /** Steps that drop triggers of versions. They come before all other steps of the plan. */
  readonly dropped: readonly Step[];
  /**
   * Steps that create triggers of versions. They come after all others, renames too, but before those of the log's
   * triggers: SQLite runs the trigger made last first, and the log's have to run first.
   */
  readonly created: readonly Step[];
  /** The tables for which `created` has a step. */
  readonly tables: ReadonlySet<string>;
  readonly staying: readonly PhysicalTrigger[];
}

/** The steps that bring the triggers which keep versions of rows to what the proposed schema says. */
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
