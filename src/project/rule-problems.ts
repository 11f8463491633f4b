import { dottedPath } from "../problems/dotted-path.js";
import type { Problem } from "../problems/problem.js";
import type { Expression, RuleAction, TableRules } from "../rules/ast.js";
import type { TableName } from "../sqlite/names.js";
import { configFile } from "./file-names.js";

/** Problems of svc.toml for the messages that `messagesOf` gives for the rule of each action. */
export function ruleProblems(
  rules: ReadonlyMap<TableName, TableRules>,
  messagesOf: (rule: Expression, table: TableName, action: RuleAction) => readonly string[],
): Problem[] {
  return [...rules].flatMap(([table, { read, create, update, delete: remove }]) =>
    Object.entries({ read, create, update, delete: remove }).flatMap(([action, rule]) =>
      problemsAt(["rules", table, action], messagesOf(rule, table, action as RuleAction)),
    ),
  );
}

/** Problems of svc.toml at one place, one for each message. */
export function problemsAt(path: readonly string[], messages: readonly string[]): Problem[] {
  return messages.map((message) => ({ file: configFile, path: dottedPath(path), message }));
}
