import type { Term } from "../../server/shapes.js";

/** What a term comes out as; `some` in a list, where it is TRUE of some rows and not of others. */
export type Truth = "true" | "false" | "null" | "some" | "unfinished";

/** What a term comes out as, of its row or of the rows of a list. */
export function truthOf({ truth, unfinished, counts }: Term): Truth {
  if (unfinished) return "unfinished";
  if (truth !== null) return truth ? "true" : "false";
  if (counts === undefined) return "null";
  const kinds = (["true", "false", "null"] as const).filter((kind) => counts[kind] > 0);
  return kinds.length === 1 ? kinds[0]! : kinds.length === 0 ? "unfinished" : "some";
}
