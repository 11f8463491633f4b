import { type IndexChange, indexChange } from "./index-change.js";
import type { TableComparison } from "./table-comparison.js";

/** How one table is changed that is in the schema in force and stays. Its names are those in force. */
export interface TableChange extends TableComparison {
  /** Whether the table is created anew and gets its rows copied, instead of being altered. */
  readonly rebuild: boolean;
  readonly indexes: IndexChange;
}

/** The change of a table, after it was decided whether the table is rebuilt. */
export function tableChange(comparison: TableComparison, rebuild: boolean): TableChange {
  return { ...comparison, rebuild, indexes: indexChange(comparison, rebuild) };
}
