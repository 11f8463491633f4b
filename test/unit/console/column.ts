import type { Column, ColumnType } from "../../../src/console/server/shapes.js";

/** A column as the server describes it: one that may be NULL and that nothing is declared of, but for `more`. */
export function column(name: string, type: ColumnType, more: Partial<Column> = {}): Column {
  return {
    name,
    type,
    managed: null,
    not_null: false,
    default: null,
    check: null,
    references: null,
    generated: false,
    ...more,
  };
}
