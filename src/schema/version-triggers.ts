import { firstVersion } from "../project/managed.js";
import { quoteName } from "../sqlite/sql-tokens.js";
import type { PhysicalTrigger } from "./physical.js";

const triggerPrefix = "_svc_version_";

/** Whether a trigger keeps the versions of rows, by its name. */
export function isVersionTrigger({ name }: Pick<PhysicalTrigger, "name">): boolean {
  return name.toLowerCase().startsWith(triggerPrefix);
}

/** A table whose rows have versions: in which column they are, and the columns of its primary key. */
export interface Versioned {
  readonly table: string;
  readonly key: readonly string[];
  readonly version: string;
}

/**
 * The CREATE statements, by their names, of the triggers that give a row its version where the write does not do so
 * itself: with foreign key actions, operations and other programs. A row that got a version by its write, as requests
 * for rows give it, is left alone.
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
    // An insert needs a trigger although the column has a default: it may give NULL, or another program may have made
    // the table.
    trigger("insert", isNull, firstVersion),
    trigger(
      "update",
      `new.${column} IS old.${column} OR ${isNull}`,
      `ifnull(old.${column} + 1, ${firstVersion})`,
    ),
  ]);
}
