import { type IndexChange, indexChange } from "./index-change.js";
import type { TableComparison } from "./table-comparison.js";

/** What becomes of one table that is in force and stays, in the names that are in force. */
export interface TableChange extends TableComparison {
  /** Whether the table is made anew, with its rows, instead of altered. */
  readonly rebuild: boolean;
  readonly indexes: IndexChange;
}

/** The change of a table, once it is decided whether the table is rebuilt. */
export function tableChange(comparison: TableComparison, rebuild: boolean): TableChange {
  return { ...comparison, rebuild, indexes: indexChange(comparison, rebuild) };
}
