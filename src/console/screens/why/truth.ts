import type { ExplainedTerm } from "../../../wire/explanation.js";

/**
 * The value of a term as it is shown. `some` is for a list: the values of the term differ from row to row.
 * `unfinished`: it was not evaluated.
 */
export type Truth = "true" | "false" | "null" | "some" | "unfinished";

/**
 * The value of a term as it is shown: of the one row in question, or of the rows of a list, of which `counts` has the
 * numbers by value.
 */
export function truthOf({ truth, unfinished, counts }: ExplainedTerm): Truth {
  if (unfinished) return "unfinished";
  if (truth !== null) return truth ? "true" : "false";
  if (counts === undefined) return "null";
  const kinds = (["true", "false", "null"] as const).filter((kind) => counts[kind] > 0);
  return kinds.length === 1 ? kinds[0]! : kinds.length === 0 ? "unfinished" : "some";
}
