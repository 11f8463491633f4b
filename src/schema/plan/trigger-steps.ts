import type { Schema, Table } from "../../project/model.js";
import { sameFragment } from "../../sqlite/fragment.js";
import { mentions, quoteName } from "../../sqlite/sql-tokens.js";
import { parseTriggerText, type TriggerText } from "../../sqlite/trigger-text.js";
import { type Physical, sameName } from "../physical/physical.js";
import { createTrigger, dropTrigger } from "./ddl.js";
import type { Renames } from "./renames.js";
import { impossible, type Step } from "./steps.js";

/** The steps for the triggers that svc.schema.yaml declares. */
export interface TriggerSteps {
  /**
   * These steps drop triggers. They come before the changes of tables, so that a trigger which is dropped or replaced
   * does not interfere with them.
   */
  readonly dropped: readonly Step[];
  /**
   * These steps create triggers. They come after renames, because svc.schema.yaml uses the new names, and before the
   * steps that create the server's own triggers.
   */
  readonly created: readonly Step[];
  /** The tables for which `created` has a step, by their new names. */
  readonly tables: ReadonlySet<string>;
  /** The database without the triggers that `dropped` drops, which is how the other steps of the plan find it. */
  readonly physical: Physical;
}

/**
 * Makes the triggers of the database match those that the proposed schema declares. A trigger that is there as declared
 * stays; if its table is rebuilt, the rebuild creates it again. A trigger that mentions a renamed table or column is
 * created anew from svc.schema.yaml, which has the new names. Triggers that svc.schema.yaml has never declared are left
 * alone.
 */
export function triggerSteps(before: Schema, proposed: Schema, renames: Renames, physical: Physical): TriggerSteps {
  const wasDeclared = (name: string) =>
    [...before.tables.values()].some(({ triggers }) => [...triggers.keys()].some((each) => sameName(each, name)));
  const oldNames = [...renames.tables.values(), ...[...renames.columns.values()].flatMap((each) => [...each.values()])];
  const isRenamed = (text: string) => oldNames.some((name) => mentions(text, name));
  const wanted = [...proposed.tables.values()].flatMap((table) =>
    [...table.triggers].map(([name, text]) => {
      const there = physical.triggers.find((trigger) => sameName(trigger.name, name));
      const isKept = there !== undefined && sameFragment(there.sql, createTrigger(name, text)) && !isRenamed(text);
      return { table, name, text, there, isKept };
    }),
  );
  const isWanted = (name: string) => wanted.some((each) => each.isKept && sameName(each.name, name));
  const old = physical.triggers.filter(({ name }) => wasDeclared(name) && !isWanted(name));
  const made = wanted.filter(({ isKept }) => !isKept);
  return {
    dropped: old.map(({ name }) => ({
      kind: "drop_trigger",
      description: `drop trigger ${name}`,
      statements: [dropTrigger(name)],
      hazards: [],
    })),
    created: made.map(
      ({ table, name, text, there }): Step => ({
        kind: "create_trigger",
        description: `create trigger ${name} on ${table.name}`,
        statements: triggerStatements(table, name, text),
        hazards:
          there === undefined || old.includes(there)
            ? []
            : [
                impossible(
                  `trigger ${name} of ${there.on} is there, and differs from the file: declare it as it is, or drop it first`,
                ),
              ],
      }),
    ),
    tables: new Set(made.map(({ table }) => table.name)),
    physical: { ...physical, triggers: physical.triggers.filter((trigger) => !old.includes(trigger)) },
  };
}

/** Creates a trigger and makes SQLite compile it, which fails if it cannot be compiled. */
export function triggerStatements(table: Table, name: string, text: string): readonly string[] {
  return [createTrigger(name, text), compiled(table, text)];
}

/**
 * Changes no row, but makes SQLite compile the trigger. It fails if, for example, the trigger names a column that does
 * not exist. CREATE TRIGGER does not check that: SQLite looks for the columns only when a statement may fire the
 * trigger.
 */
function compiled(table: Table, text: string): string {
  const { event, of } = parseTriggerText(text) as TriggerText;
  const name = quoteName(table.name);
  const column = quoteName(of[0] ?? [...table.columns.keys()][0]!);
  switch (event) {
    case "insert":
      return `INSERT INTO ${name} (${column}) SELECT ${column} FROM ${name} WHERE 0`;
    case "update":
      return `UPDATE ${name} SET ${column} = ${column} WHERE 0`;
    case "delete":
      return `DELETE FROM ${name} WHERE 0`;
  }
}
