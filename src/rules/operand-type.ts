import type { ColumnType } from "../sqlite/column-type.js";
import type { CompareOperator, Literal } from "./ast.js";

/**
 * The type of an operand of a rule. `null` is that of the literal `null`, which compares with operands of every type.
 */
export type OperandType = ColumnType | "null";

/** A bigint is an integer, a number is a real. */
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

/**
 * What is wrong with a comparison, as a message. Texts may be compared with texts, numbers with numbers, booleans with
 * booleans by `=` and `!=` alone, and all of them with the literal `null`.
 */
export function comparisonProblem(left: Described, operator: CompareOperator, right: Described): string | null {
  if (left.type !== "null" && right.type !== "null" && family(left.type) !== family(right.type)) {
    const remedy = rewritten(left, right) ?? rewritten(right, left) ?? "";
    return `cannot compare ${left.text} (${left.type}) with ${right.text} (${right.type})${remedy}`;
  }
  const ordered = operator !== "=" && operator !== "!=";
  return ordered && (left.type === "boolean" || right.type === "boolean")
    ? `booleans compare with = and !=, not with ${operator}`
    : null;
}

/** A hint how to write a literal so that it fits the type of the operand that it is compared with; null for no hint. */
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
