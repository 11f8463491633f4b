import type { Literal } from "./ast.js";

/** A literal as a rule writes it: text in single quotes, each quote within doubled. */
export function literalText(value: Literal["value"]): string {
  return typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : String(value);
}
