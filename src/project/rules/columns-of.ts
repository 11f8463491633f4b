import type { ColumnName } from "../names.js";
import type { ColumnReference, Expression, Operand, RowName } from "./ast.js";
import { leavesOf } from "./leaves.js";

/** The columns of one row that a rule names, inside `exists` too. */
export function columnsOf(expression: Expression, source: RowName): ReadonlySet<ColumnName> {
  const own = columnReferences(expression).filter((reference) => reference.source === source);
  return new Set(own.map((reference) => reference.column));
}

export function mentions(expression: Expression, source: RowName): boolean {
  return columnsOf(expression, source).size > 0;
}

/** Inside `exists` too. */
export function columnReferences(expression: Expression): readonly ColumnReference[] {
  return leavesOf(expression).flatMap((leaf) => {
    switch (leaf.kind) {
      case "compare":
        return columnsAmong([leaf.left, leaf.right]);
      case "in":
        return columnsAmong([leaf.value, ...leaf.list]);
      case "is_null":
        return columnsAmong([leaf.value]);
      default:
        return columnsAmong([leaf]);
    }
  });
}

function columnsAmong(operands: readonly Operand[]): readonly ColumnReference[] {
  return operands.filter((operand) => operand.kind === "column");
}
