import { type IndexChange, indexChange } from "./index-change.js";
import type { TableComparison } from "./table-comparison.js";

/**
 * How a plan changes one table that is in the schema in force and stays. Its names are those in force, because renames
 * come last.
 */
export interface TableChange extends TableComparison {
  /** Whether the table is created anew and gets its rows copied, instead of being altered. */
  readonly rebuild: boolean;
  readonly indexes: IndexChange;
}

/** Made from the comparison once it is decided whether the table is rebuilt. */
export function tableChange(comparison: TableComparison, rebuild: boolean): TableChange {
  return { ...comparison, rebuild, indexes: indexChange(comparison, rebuild) };
}
