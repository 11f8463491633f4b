import { firstVersion } from "../../project/managed.js";
import { quoteName } from "../../sqlite/sql-tokens.js";
import type { PhysicalTrigger } from "./physical.js";

const triggerPrefix = "_svc_version_";

/** Whether a trigger is one of those that give rows their versions, judged by its name. */
export function isVersionTrigger({ name }: Pick<PhysicalTrigger, "name">): boolean {
  return name.toLowerCase().startsWith(triggerPrefix);
}

/** A table whose rows have versions. `version` is the column that holds them, `key` the columns of the primary key. */
export interface Versioned {
  readonly table: string;
  readonly key: readonly string[];
  readonly version: string;
}

/**
 * Makes the CREATE statements, by trigger name, of the triggers that give a row its version where the write has not set
 * it: on writes by foreign key actions, operations and other programs. A row that got a version from the write itself,
 * as API requests give it, is left alone.
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
    // Inserts need a trigger although the version column has a default: an insert may give NULL, and a table that
    // another program created may have no such default.
    trigger("insert", isNull, firstVersion),
    trigger(
      "update",
      `new.${column} IS old.${column} OR ${isNull}`,
      `ifnull(old.${column} + 1, ${firstVersion})`,
    ),
  ]);
}
