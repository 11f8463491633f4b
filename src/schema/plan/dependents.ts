import { mentions } from "../../sqlite/sql-tokens.js";
import { type Physical, sameName } from "../physical.js";

/** A trigger or view that a table's change may break. */
export interface Dependent {
  /** For a person. */
  readonly what: string;
  readonly sql: string;
  /** The table whose trigger it is. */
  readonly of: string | null;
}

/** Triggers and views that speak of a table. */
export function dependents(physical: Physical, table: string): Dependent[] {
  const triggers = physical.triggers
    .filter(({ on, sql }) => sameName(on, table) || mentions(sql, table))
    .map(({ name, on, sql }) => ({ what: `trigger ${name}`, sql, of: on }));
  const views = physical.views
    .filter(({ sql }) => mentions(sql, table))
    .map(({ name, sql }) => ({ what: `view ${name}`, sql, of: null }));
  return [...triggers, ...views];
}
