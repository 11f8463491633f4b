import type { ColumnTypeName } from "../../../src/wire/columns.js";
import type { SchemaColumn } from "../../../src/wire/schema-in-force.js";

/** A column as the server describes it: one that may be NULL and that nothing is declared of, but for `more`. */
export function column(name: string, type: ColumnTypeName, more: Partial<SchemaColumn> = {}): SchemaColumn {
  return {
    name,
    type,
    managed: null,
    not_null: false,
    primary_key: false,
    default: null,
    check: null,
    references: null,
    generated: false,
    ...more,
  };
}
