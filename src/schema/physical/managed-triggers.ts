import { managedMark, ofTransaction } from "../../changes/log-triggers.js";
import { firstVersion } from "../../project/managed.js";
import type { Column, Table } from "../../project/model.js";
import { usersTable } from "../../sqlite/names.js";
import { quoteName } from "../../sqlite/sql-tokens.js";
import type { PhysicalTrigger } from "./physical.js";

const triggerPrefix = "_svc_managed_";
/** Triggers of earlier releases had this prefix. They set versions alone. */
const formerPrefix = "_svc_version_";

/** Whether a trigger sets managed columns, by its name. */
export function isManagedTrigger({ name }: Pick<PhysicalTrigger, "name">): boolean {
  return [triggerPrefix, formerPrefix].some((prefix) => name.toLowerCase().startsWith(prefix));
}

/** The managed columns that a change of a row sets: the version, and when and by whom the row was changed. */
export function managedByChange({ columns }: Pick<Table, "columns">): readonly Column[] {
  const kinds = ["updated_at", "updated_by", "version"];
  return [...columns.values()].filter(({ managed }) => kinds.includes(managed ?? ""));
}

const isInTransaction = ofTransaction("1");

/**
 * The CREATE statements, by name, of the triggers that set the managed columns of a row if the write has not set them,
 * as API requests do: on writes by foreign key actions, triggers, operations and other programs. Who makes the change,
 * and when, is known only of requests, whose transaction is in the log. There are no such triggers if nothing shows
 * that a write has set the columns itself: without a version, that is so outside of requests.
 */
export function managedTriggers(table: Pick<Table, "columns" | "name" | "primaryKey">): ReadonlyMap<string, string> {
  const managed = managedByChange(table);
  if (managed.length === 0 || table.primaryKey.length === 0) return new Map();
  const version = managed.find((column) => column.managed === "version");
  const others = managed.filter((column) => column !== version);
  const isRow = table.primaryKey.map((name) => `${quoteName(name)} IS new.${quoteName(name)}`).join(" AND ");
  const stays = ({ name }: Column) => `new.${quoteName(name)} IS old.${quoteName(name)}`;
  const trigger = (event: string, when: string, set: string) => {
    const name = `${triggerPrefix}${table.name}_${event}`;
    const mark = managedMark(table.name, table.primaryKey, "new");
    const body = [
      `INSERT INTO _staged (name) SELECT ${mark} WHERE NOT EXISTS (SELECT 1 FROM _staged WHERE name = ${mark});`,
      `UPDATE ${quoteName(table.name)} SET ${set} WHERE ${isRow};`,
      `DELETE FROM _staged WHERE name = ${mark};`,
    ];
    return [
      name,
      `CREATE TRIGGER ${quoteName(name)} AFTER ${event.toUpperCase()} ON ${quoteName(table.name)} WHEN ${when} BEGIN\n${body.map((line) => `  ${line}\n`).join("")}END`,
    ] as const;
  };
  const changed = others.map(
    (column) =>
      `${quoteName(column.name)} = CASE WHEN ${stays(column)} AND ${isInTransaction} THEN ${changeValue(column)} ELSE new.${quoteName(column.name)} END`,
  );
  if (version === undefined) {
    const differs = others.map((column) => `new.${quoteName(column.name)} IS NOT ${changeValue(column)}`).join(" OR ");
    return new Map([
      trigger(
        "update",
        `${others.map(stays).join(" AND ")} AND ${isInTransaction} AND (${differs})`,
        changed.join(", "),
      ),
    ]);
  }
  const column = quoteName(version.name);
  const isNull = `new.${column} IS NULL`;
  const raised = `${column} = ifnull(old.${column} + 1, ${firstVersion})`;
  return new Map([
    // Although the version column has a default, an insert may give NULL, and a table that another program created may
    // have no such default.
    trigger("insert", isNull, `${column} = ${firstVersion}`),
    trigger("update", `${stays(version)} OR ${isNull}`, [raised, ...changed].join(", ")),
  ]);
}

/** SQL for the value of a column that says when, or by whom, a row was changed. */
function changeValue({ managed, type, references }: Column): string {
  if (managed === "updated_at")
    return type === "integer"
      ? ofTransaction("at / 1000")
      : ofTransaction("strftime('%Y-%m-%dT%H:%M:%fZ', at / 1000.0, 'unixepoch')");
  const user = ofTransaction("CASE principal_kind WHEN 'user' THEN principal_id END");
  if (references === null) return user;
  // A reference to another table than that of users holds only for those who have a row there.
  const [table, column] = [references.table === "$users" ? usersTable : references.table, quoteName(references.column)];
  return `(SELECT ${column} FROM ${quoteName(table)} WHERE ${column} = ${user})`;
}
