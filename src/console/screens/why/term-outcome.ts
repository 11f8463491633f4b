import type { ExplainedTerm } from "../../../wire/explanation.js";

/** The value of a term as it is shown. `some`: it differs from row to row of a list. `unfinished`: not evaluated. */
export type TermOutcome = "true" | "false" | "null" | "some" | "unfinished";

/** The value for the one row in question, or for the rows of a list, whose numbers by value are in `counts`. */
export function termOutcome({ truth, unfinished, counts }: ExplainedTerm): TermOutcome {
  if (unfinished) return "unfinished";
  if (truth !== null) return truth ? "true" : "false";
  if (counts === undefined) return "null";
  const kinds = (["true", "false", "null"] as const).filter((kind) => counts[kind] > 0);
  return kinds.length === 1 ? kinds[0]! : kinds.length === 0 ? "unfinished" : "some";
}
