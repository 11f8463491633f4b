import type { ColumnName, TableName } from "../sqlite/names.js";
import type { Column, Table } from "./model.js";

/** A STRICT table that has columns and a primary key, and nothing else. */
export function plainTable(
  name: TableName,
  columns: ReadonlyMap<string, Column>,
  primaryKey: readonly ColumnName[],
): Table {
  return {
    name,
    columns,
    primaryKey,
    unique: [],
    indexes: [],
    search: [],
    searchTokenizer: "unicode61",
    triggers: new Map(),
    historyDays: null,
    strict: true,
    virtual: false,
    renamedFrom: null,
  };
}
