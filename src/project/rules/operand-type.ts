import type { ColumnType } from "../model.js";
import type { CompareOperator, Literal } from "./ast.js";

/** The literal `null` fits every type. */
export type OperandType = ColumnType | "null";

export function typeOfLiteral(value: Literal["value"]): OperandType {
  switch (typeof value) {
    case "string":
      return "text";
    case "bigint":
      return "integer";
    case "number":
      return "real";
    case "boolean":
      return "boolean";
    default:
      return "null";
  }
}

interface Described {
  readonly type: OperandType;
  readonly text: string;
}

/** Null for two operands that compare: text with text, numbers with numbers, booleans for equality alone. */
export function comparisonProblem(
  left: Described,
  operator: CompareOperator,
  right: Described,
): string | null {
  if (left.type !== "null" && right.type !== "null" && family(left.type) !== family(right.type)) {
    return `cannot compare ${left.text} (${left.type}) with ${right.text} (${right.type})`;
  }
  const ordered = operator !== "=" && operator !== "!=";
  return ordered && (left.type === "boolean" || right.type === "boolean")
    ? `booleans compare with = and !=, not with ${operator}`
    : null;
}

function family(type: OperandType): OperandType {
  return type === "real" ? "integer" : type;
}
