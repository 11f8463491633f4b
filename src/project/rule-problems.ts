import { dottedPath } from "../problems/dotted-path.js";
import type { Problem } from "../problems/problem.js";
import type { Expression, RuleAction, TableRules } from "../rules/ast.js";
import type { TableName } from "../sqlite/names.js";
import { configFile } from "./file-names.js";

/** What there is to say of each action's rule, each message once, as problems of svc.toml at the rule's place. */
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

/** The messages, each once, as problems of svc.toml at one place. */
export function problemsAt(path: readonly string[], messages: readonly string[]): Problem[] {
  return [...new Set(messages)].map((message) => ({ file: configFile, path: dottedPath(path), message }));
}
