import { dottedPath } from "../problems/dotted-path.js";
import type { Problem } from "../problems/problem.js";
import type { Expression, RuleAction, TableRules } from "../rules/ast.js";
import type { TableName } from "../sqlite/names.js";
import { configFile } from "./file-names.js";

/** The messages about each table's rules of actions, as problems of svc.toml. */
export function ruleProblems(
  rules: ReadonlyMap<TableName, TableRules>,
  messagesOf: (rule: Expression, table: TableName, action: RuleAction) => readonly string[],
): Problem[] {
  return [...rules].flatMap(([table, { read, create, update, delete: remove, history }]) =>
    Object.entries({ read, create, update, delete: remove, history }).flatMap(([action, rule]) =>
      problemsAt(["rules", table, action], messagesOf(rule, table, action as RuleAction)),
    ),
  );
}

/** The messages about every rule of each table, those of columns too, as problems of svc.toml. */
export function everyRuleProblems(
  rules: ReadonlyMap<TableName, TableRules>,
  messagesOf: (rule: Expression) => readonly string[],
): Problem[] {
  return [...rules].flatMap(([table, tableRules]) => [
    ...ruleProblems(new Map([[table, tableRules]]), messagesOf),
    ...[...tableRules.columns].flatMap(([column, { read, write }]) => [
      ...problemsAt(["rules", table, "columns", column, "read"], messagesOf(read)),
      ...problemsAt(["rules", table, "columns", column, "write"], write === null ? [] : messagesOf(write)),
    ]),
  ]);
}

function problemsAt(path: readonly string[], messages: readonly string[]): Problem[] {
  return messages.map((message) => ({ file: configFile, path: dottedPath(path), message }));
}
