import { dottedPath } from "../problems/dotted-path.js";
import type { Problem } from "../problems/problem.js";
import type { Expression, RuleAction, TableRules } from "../rules/ast.js";
import type { TableName } from "../sqlite/names.js";
import { configFile } from "./file-names.js";

/** Makes problems of svc.toml of the messages that `messagesOf` has for each table's rules of actions. */
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

/** Makes a problem of svc.toml at this place of each message. */
export function problemsAt(path: readonly string[], messages: readonly string[]): Problem[] {
  return messages.map((message) => ({ file: configFile, path: dottedPath(path), message }));
}
