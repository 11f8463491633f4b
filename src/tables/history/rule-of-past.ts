import type { Expression } from "../../rules/ast.js";
import { whenTrue } from "../../rules/fold.js";
import type { Access } from "../access.js";

/**
 * The rule that has to be TRUE of a version of a row to be shown: the rule for the history and the one for reading,
 * both.
 */
export function ruleOfPast({ rule, readRule }: Access): Expression {
  return whenTrue({ kind: "and", terms: [rule, readRule] });
}
