import { type RowShape, type RuleKind, type Scope, scopeOfRule } from "../rules/scope.js";
import type { Schema, Table } from "./model.js";
import { mayHaveTable, unreadColumns, unreadTable } from "./unread.js";

/** What names may mean in a rule of the table: its columns, and the tables of the schema. */
export function ruleScope(schema: Schema, table: Table, kind: RuleKind): Scope {
  const tables = {
    names: () => schema.tables.keys(),
    shapeOf: (name: string) => {
      const found = schema.tables.get(name) ?? (mayHaveTable(schema, name) ? unreadTable(name) : undefined);
      return found === undefined ? null : shapeOf(schema, found);
    },
  };
  return scopeOfRule(shapeOf(schema, table), tables, kind);
}

function shapeOf(schema: Schema, { name, columns }: Table): RowShape {
  return { table: name, columns, unread: unreadColumns(schema, name) };
}
