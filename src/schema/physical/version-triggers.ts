import { firstVersion } from "../../project/managed.js";
import { quoteName } from "../../sqlite/sql-tokens.js";
import type { PhysicalTrigger } from "./physical.js";

const triggerPrefix = "_svc_version_";

/** Whether a trigger gives rows their versions, by its name. */
export function isVersionTrigger({ name }: Pick<PhysicalTrigger, "name">): boolean {
  return name.toLowerCase().startsWith(triggerPrefix);
}

/** `version` is the column that holds the versions, `key` the columns of the primary key. */
export interface Versioned {
  readonly table: string;
  readonly key: readonly string[];
  readonly version: string;
}

/**
 * The CREATE statements, by name, of the triggers that give a row its version if the write has not set it, as API
 * requests do: on writes by foreign key actions, operations and other programs.
 */
export function versionTriggers({ table, key, version }: Versioned): ReadonlyMap<string, string> {
  const column = quoteName(version);
  const isRow = key.map((name) => `${quoteName(name)} IS new.${quoteName(name)}`).join(" AND ");
  const trigger = (event: string, when: string, value: string) => {
    const name = `${triggerPrefix}${table}_${event}`;
    return [
      name,
      `CREATE TRIGGER ${quoteName(name)} AFTER ${event.toUpperCase()} ON ${quoteName(table)} WHEN ${when} BEGIN\n  UPDATE ${quoteName(table)} SET ${column} = ${value} WHERE ${isRow};\nEND`,
    ] as const;
  };
  const isNull = `new.${column} IS NULL`;
  return new Map([
    // Although the version column has a default, an insert may give NULL, and a table that another program created may
    // have no such default.
    trigger("insert", isNull, firstVersion),
    trigger("update", `new.${column} IS old.${column} OR ${isNull}`, `ifnull(old.${column} + 1, ${firstVersion})`),
  ]);
}
