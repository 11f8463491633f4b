import type { Expression } from "../../rules/ast.js";
import { whenTrue } from "../../rules/fold.js";
import type { Access } from "../access/access.js";

/**
 * Returns the rule that a version of a row has to pass to be shown: both the rule for the history and the one for
 * reading have to be TRUE of it.
 */
export function ruleOfPast({ rule, readRule }: Access): Expression {
  return whenTrue({ kind: "and", terms: [rule, readRule] });
}
