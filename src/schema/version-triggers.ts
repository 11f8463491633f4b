import { firstVersion } from "../project/managed.js";
import { quoteName } from "../sqlite/sql-tokens.js";
import type { PhysicalTrigger } from "./physical.js";

const triggerPrefix = "_svc_version_";

/** Whether a trigger keeps the versions of rows. */
export function isVersionTrigger({ name }: Pick<PhysicalTrigger, "name">): boolean {
  return name.toLowerCase().startsWith(triggerPrefix);
}

/** A table whose rows have versions: in which column, and the columns of its primary key. */
export interface Versioned {
  readonly table: string;
  readonly key: readonly string[];
  readonly version: string;
}

/**
 * The CREATE statements, by their names, of the triggers that keep the versions of a table's rows where a write does not
 * say them: foreign key actions, operations, other programs. They leave a row alone that got a version by its write, as
 * requests for rows do it.
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
    // The column has a default, but the insert may give NULL, or another program may have made the table.
    trigger("insert", isNull, firstVersion),
    trigger(
      "update",
      `new.${column} IS old.${column} OR ${isNull}`,
      `ifnull(old.${column} + 1, ${firstVersion})`,
    ),
  ]);
}
