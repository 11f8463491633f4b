import { didYouMean } from "../problems/did-you-mean.js";
import type { Problem } from "../problems/problem.js";
import type { Exists, Expression, Operand, TableRules } from "../rules/ast.js";
import { literalText } from "../rules/literal-text.js";
import { existsIn, type Leaf, leavesOf, operandsOf } from "../rules/walk.js";
import type { TableName } from "../sqlite/names.js";
import { everyRuleProblems } from "./rule-problems.js";

/**
 * Warnings of comparisons that are valid, but hardly what was meant: with NULL, which are never TRUE, and of a role
 * (`auth.role`, or `role` of `$users`) with a text that is no role.
 */
export function comparisonWarnings(rules: ReadonlyMap<TableName, TableRules>): Problem[] {
  return everyRuleProblems(rules, warningsOf);
}

function warningsOf(rule: Expression): readonly string[] {
  const messages = leavesOf(rule).flatMap(comparedWithNull);
  const roles = [...leavesOf(rule).flatMap(comparedWith(isCallersRole)), ...existsIn(rule).flatMap(rolesOfUsers)];
  return [...new Set([...messages, ...roles.flatMap(unknownRole)])];
}

function comparedWithNull(leaf: Leaf): string[] {
  if (leaf.kind === "in" && leaf.list.some(isNull))
    return [`null in a list equals nothing: write ${written(leaf.value)} is null beside the list`];
  if (leaf.kind !== "compare" || !(isNull(leaf.left) || isNull(leaf.right))) return [];
  const { left, operator, right } = leaf;
  const value = written(isNull(right) ? left : right);
  const remedy =
    operator === "="
      ? `write ${value} is null`
      : operator === "!="
        ? `write ${value} is not null`
        : "compare it with a value";
  return [`${written(left)} ${operator} ${written(right)} is never TRUE: ${remedy}`];
}

function isNull(operand: Operand): boolean {
  return operand.kind === "literal" && operand.value === null;
}

function written(operand: Operand): string {
  switch (operand.kind) {
    case "column":
      return `${typeof operand.source === "object" ? operand.source.alias : operand.source}.${operand.column}`;
    case "auth":
      return `auth.${operand.field}`;
    case "now":
      return "now()";
    case "given":
      return operand.name;
    case "literal":
      return literalText(operand.value);
  }
}

const roles = ["user", "admin"];

function unknownRole({ role, value }: ComparedRole): string[] {
  return roles.includes(value)
    ? []
    : [`${role} is 'user' or 'admin', never ${literalText(value)}${didYouMean(value, roles)}`];
}

interface ComparedRole {
  /** As the rule writes it, such as `auth.role`. */
  readonly role: string;
  readonly value: string;
}

function comparedWith(isRole: (operand: Operand) => boolean): (leaf: Leaf) => ComparedRole[] {
  return (leaf) => {
    if (leaf.kind !== "compare" && leaf.kind !== "in") return [];
    const operands = operandsOf(leaf);
    const role = operands.find(isRole);
    if (role === undefined) return [];
    return operands.flatMap((operand) =>
      operand.kind === "literal" && typeof operand.value === "string"
        ? [{ role: written(role), value: operand.value }]
        : [],
    );
  };
}

function isCallersRole(operand: Operand): boolean {
  return operand.kind === "auth" && operand.field === "role";
}

function rolesOfUsers({ table, alias, where }: Exists): ComparedRole[] {
  if (table !== "$users") return [];
  return leavesOf(where).flatMap(
    comparedWith(
      (operand) =>
        operand.kind === "column" &&
        typeof operand.source === "object" &&
        operand.source.alias === alias &&
        operand.column === "role",
    ),
  );
}
