import type { Problem } from "../problems/problem.js";
import type { Expression, TableRules } from "../rules/ast.js";
import { FALSE, whenTrue } from "../rules/fold.js";
import { leavesOf, mapOperands, operandsOf } from "../rules/walk.js";
import type { TableName } from "../sqlite/names.js";
import type { Schema } from "./model.js";
import { everyRuleProblems } from "./rule-problems.js";

/**
 * Warnings of rules that trust `auth.email` although anybody may register with an address that is not theirs:
 * registration is public, and addresses need not be confirmed. A rule that also asks for `auth.email_verified` gets no
 * warning.
 */
export function unconfirmedEmailWarnings(rules: ReadonlyMap<TableName, TableRules>, { auth }: Schema): Problem[] {
  if (auth.emailVerification.required || auth.registration !== "public") return [];
  return everyRuleProblems(rules, warningsOf);
}

function warningsOf(rule: Expression): readonly string[] {
  const forUnconfirmed = mapOperands(rule, (operand) =>
    operand.kind === "auth" && operand.field === "email_verified" ? FALSE : operand,
  );
  return leavesOf(whenTrue(forUnconfirmed)).some(
    (leaf) =>
      leaf.kind !== "is_null" &&
      operandsOf(leaf).some((operand) => operand.kind === "auth" && operand.field === "email"),
  )
    ? [message]
    : [];
}

const message =
  "auth.email may be an address of somebody else, as addresses need not be confirmed: add auth.email_verified and, or set $auth.email_verification.required";
