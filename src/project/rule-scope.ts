import { type Conditions, noConditions } from "../rules/named-condition.js";
import { type RowShape, type RowShapes, type RuleKind, type Scope, scopeOfRule } from "../rules/scope.js";
import type { Schema, Table } from "./model.js";
import { mayHaveTable, unreadColumns, unreadTable } from "./unread.js";

/**
 * The names that a rule of the table may use: columns of the table, the tables of the schema for `exists`, and the
 * named conditions.
 */
export function ruleScope(schema: Schema, table: Table, kind: RuleKind, conditions: Conditions = noConditions): Scope {
  return scopeOfRule(shapeOf(schema, table), rowShapes(schema), kind, conditions);
}

/** The tables of the schema that an `exists` in a rule may name. */
export function rowShapes(schema: Schema): RowShapes {
  return {
    names: () => schema.tables.keys(),
    shapeOf: (name: string) => {
      const found = schema.tables.get(name) ?? (mayHaveTable(schema, name) ? unreadTable(name) : undefined);
      return found === undefined ? null : shapeOf(schema, found);
    },
  };
}

function shapeOf(schema: Schema, { name, columns }: Table): RowShape {
  return { table: name, columns, unread: unreadColumns(schema, name) };
}
