import type { Column, Table } from "./model.js";

/** Whether a new row has to say it: SQLite numbers an integer that is the whole key. */
export function needsValue(column: Column, { primaryKey }: Table): boolean {
  const isNumbered = column.type === "integer" && primaryKey.length === 1 && primaryKey[0] === column.name;
  return column.notNull && column.default === null && !isNumbered;
}
