import type { Expression, Operand } from "./ast.js";
import { leavesOf } from "./leaves.js";

/** Whether a given value is compared with nothing that a row says, so that knowing it would decide something. */
export function hangsOnGiven(expression: Expression): boolean {
  return leavesOf(expression).some((leaf) => {
    switch (leaf.kind) {
      case "compare":
        return decides(leaf.left, leaf.right);
      case "in":
        return leaf.list.some((item) => decides(leaf.value, item));
      case "is_null":
        return leaf.value.kind === "given";
      default:
        return leaf.kind === "given";
    }
  });
}

function decides(left: Operand, right: Operand): boolean {
  return (
    (left.kind === "given" && right.kind !== "column") || (right.kind === "given" && left.kind !== "column")
  );
}
