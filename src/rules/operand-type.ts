import type { ColumnType } from "../sqlite/column-type.js";
import type { CompareOperator, Literal } from "./ast.js";

/** The literal `null` fits every type. */
export type OperandType = ColumnType | "null";

/** The type of a literal, as columns have types. */
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
    const remedy = rewritten(left, right) ?? rewritten(right, left) ?? "";
    return `cannot compare ${left.text} (${left.type}) with ${right.text} (${right.type})${remedy}`;
  }
  const ordered = operator !== "=" && operator !== "!=";
  return ordered && (left.type === "boolean" || right.type === "boolean")
    ? `booleans compare with = and !=, not with ${operator}`
    : null;
}

/** How a literal is written that fits the other operand; null where it is none, or fits in no way. */
function rewritten(literal: Described, other: Described): string | null {
  const isNumber = /^-?\d/.test(literal.text);
  if (other.type === "text" && isNumber) return `; as text it is '${literal.text}'`;
  if (other.type === "boolean" && /^[01]$/.test(literal.text))
    return `; write ${literal.text === "1" ? "true" : "false"}`;
  return family(other.type) === "integer" && /^'-?\d+'$/.test(literal.text)
    ? "; a number is written without quotes"
    : null;
}

function family(type: OperandType): OperandType {
  return type === "real" ? "integer" : type;
}
