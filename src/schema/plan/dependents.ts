import { mentions } from "../../sqlite/sql-tokens.js";
import { type Physical, sameName } from "../physical/physical.js";

/** A trigger or view that a change of a table may break. */
export interface Dependent {
  /** The word `trigger` or `view` with the name, for messages. */
  readonly what: string;
  readonly sql: string;
  /** The table or view that the trigger belongs to; null for a view. */
  readonly of: string | null;
}

/** The triggers that belong to a table or mention it, and the views that mention it. */
export function dependents(physical: Physical, table: string): Dependent[] {
  const triggers = physical.triggers
    .filter(({ on, sql }) => sameName(on, table) || mentions(sql, table))
    .map(({ name, on, sql }) => ({ what: `trigger ${name}`, sql, of: on }));
  const views = physical.views
    .filter(({ sql }) => mentions(sql, table))
    .map(({ name, sql }) => ({ what: `view ${name}`, sql, of: null }));
  return [...triggers, ...views];
}
