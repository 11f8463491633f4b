import type { Expression } from "../../rules/ast.js";
import { whenTrue } from "../../rules/fold.js";
import type { Access } from "../access.js";

/** What has to be TRUE of a version of a row: the rule for the history, and the one for reading. */
export function ruleOfPast({ rule, readRule }: Access): Expression {
  return whenTrue({ kind: "and", terms: [rule, readRule] });
}
