import { mentions } from "../../sqlite/sql-tokens.js";
import {
  type Physical,
  type PhysicalTable,
  type PhysicalTrigger,
  type PhysicalView,
  sameName,
} from "../physical/physical.js";
import { dropTrigger, dropView } from "./ddl.js";

/**
 * Views and triggers that mention tables: they are dropped before the tables are rebuilt, and created again afterwards.
 */
export interface Bystanders {
  readonly views: readonly PhysicalView[];
  readonly triggers: readonly PhysicalTrigger[];
}

/**
 * Finds the views that mention one of the tables, directly or through another view, and the triggers that mention one
 * of these tables and views or belong to it.
 */
export function bystanders(physical: Physical, tables: readonly string[]): Bystanders {
  const names = [...tables];
  const found = new Set<PhysicalView>();
  for (const name of names)
    for (const view of physical.views)
      if (!found.has(view) && mentions(view.sql, name)) {
        found.add(view);
        names.push(view.name);
      }
  const triggers = physical.triggers.filter(({ on, sql }) =>
    names.some((name) => sameName(on, name) || mentions(sql, name)),
  );
  return { views: physical.views.filter((view) => found.has(view)), triggers };
}

/**
 * To be run before `tables` are rebuilt. A trigger of a table or view that is dropped itself needs no statement,
 * because SQLite drops it too.
 */
export function dropBystanders({ views, triggers }: Bystanders, tables: readonly PhysicalTable[]): string[] {
  const going = [...tables, ...views];
  return [
    ...triggers.filter(({ on }) => !going.some(({ name }) => sameName(on, name))).map(({ name }) => dropTrigger(name)),
    ...views.map(({ name }) => dropView(name)),
  ];
}

/** Creates views and triggers again, as they were. Views come first. */
export function restoreBystanders({ views, triggers }: Bystanders): string[] {
  return [...views, ...triggers].map(({ sql }) => sql);
}
