import { meantOrKnown } from "../problems/did-you-mean.js";
import { dottedPath } from "../problems/dotted-path.js";
import { type Problem, shown } from "../problems/problem.js";
import type { ColumnRules, Expression, RuleAction, TableRules } from "../rules/ast.js";
import { defineConditions } from "../rules/define-conditions.js";
import { neverTrue } from "../rules/fold.js";
import type { Conditions } from "../rules/named-condition.js";
import { parseRule } from "../rules/parse-rule.js";
import type { RuleProblem } from "../rules/position.js";
import type { RuleKind } from "../rules/scope.js";
import { conditionPath } from "../rules/write-out.js";
import type { ColumnName, TableName } from "../sqlite/names.js";
import { configFile, schemaFile } from "./file-names.js";
import type { Schema, Table } from "./model.js";
import { type OperationRules, parseOperationRules } from "./parse-operation-rules.js";
import { type PlacedText, placedProblems } from "./placed-problems.js";
import { rowShapes, ruleScope } from "./rule-scope.js";
import { isWhollyRead, mayHaveColumn, mayHaveTable, suggestedColumns, unreadTable } from "./unread.js";

/**
 * Parses the rules and named conditions of svc.toml, and the rules of operations, against the schema
 * (docs/reference/rules.md). The result has rules for every table, with their named conditions written out. A rule that
 * has problems becomes `deny`, and so does an absent rule for an action. Without a rule of its own, the reading or
 * writing of a column is not restricted beyond the rules of its table.
 */
export function parseRules(source: RulesSource, schema: Schema): ParsedRules {
  // By path and message, so that each is reported once. A rule that uses a named condition twice would otherwise report
  // the problems of that condition's text twice.
  const problems = new Map<string, Problem>();
  const report: Report = (path, message, file = configFile) => {
    problems.set(`${path}: ${message}`, { file, path, message });
  };
  const reportIn: ReportIn = (text, problem) => {
    for (const { path, message } of placedProblems(text, problem, source.conditions)) report(path, message);
  };
  const { conditions, problems: found } = defineConditions(source.conditions, rowShapes(schema));
  for (const { key, at, message } of found) {
    const path = key === null ? "conditions" : conditionPath(key);
    const text = source.conditions.get(key ?? "") ?? "";
    if (at === null) report(path, message);
    else reportIn({ path, kind: "condition", text }, { at, message });
  }
  const shared = { schema, conditions, report, reportIn };
  for (const name of source.rules.keys()) {
    if (schema.tables.has(name)) continue;
    // svc.schema.yaml may declare this table in a part that could not be read. Mistakes in its rules that do not depend
    // on its columns are reported all the same.
    if (mayHaveTable(schema, name)) tableRules(source.rules.get(name)!, { ...shared, table: unreadTable(name) });
    else report(dottedPath(["rules", name]), `unknown table ${shown(name)}${meantOrKnown(name, schema.tables.keys())}`);
  }
  const rules = new Map<TableName, TableRules>();
  for (const table of schema.tables.values()) {
    rules.set(table.name, tableRules(source.rules.get(table.name) ?? {}, { ...shared, table }));
  }
  const operations = parseOperationRules(schema, conditions, (text, problem) => {
    for (const { path, message } of placedProblems(text, problem, source.conditions))
      report(path, message, path === text.path ? schemaFile : configFile);
  });
  return { rules, operations, problems: [...problems.values()] };
}

/** The rules and named conditions of svc.toml as they are written: texts that are not parsed yet. */
export interface RulesSource {
  /** By table. */
  readonly rules: ReadonlyMap<string, TableRulesSource>;
  /** By key, such as `member(room)`. Null for a text that could not be read. */
  readonly conditions: ReadonlyMap<string, string | null>;
}

/** The rules of one table: texts, not parsed yet. */
export interface TableRulesSource {
  readonly read?: string | undefined;
  readonly create?: string | undefined;
  readonly update?: string | undefined;
  readonly delete?: string | undefined;
  readonly history?: string | undefined;
  readonly columns?: ReadonlyMap<string, ColumnRulesSource> | undefined;
}

/** The rules of one column: texts, not parsed yet. */
export interface ColumnRulesSource {
  readonly read?: string | undefined;
  readonly write?: string | undefined;
}

/** The rules after parsing. One that could not be parsed is `deny`. */
export interface ParsedRules {
  readonly rules: ReadonlyMap<TableName, TableRules>;
  /** By the operation's name. */
  readonly operations: ReadonlyMap<string, OperationRules>;
  readonly problems: readonly Problem[];
}

type Report = (path: string, message: string, file?: string) => void;
type ReportIn = (text: PlacedText, problem: RuleProblem) => void;

interface TableRulesContext {
  readonly schema: Schema;
  readonly table: Table;
  readonly conditions: Conditions;
  readonly report: Report;
  readonly reportIn: ReportIn;
}

function tableRules(source: TableRulesSource, context: TableRulesContext): TableRules {
  return {
    read: actionRule("read", source.read, context),
    create: actionRule("create", source.create, context),
    update: actionRule("update", source.update, context),
    delete: actionRule("delete", source.delete, context),
    history: actionRule("history", source.history, context),
    columns: columnRules(source.columns ?? new Map(), context),
  };
}

function actionRule(action: RuleAction, text: string | undefined, context: TableRulesContext): Expression {
  const path = dottedPath(["rules", context.table.name, action]);
  const rule = readRule(path, action, text ?? "deny", context);
  const limit = isWhollyRead(context.schema, context.table.name) ? limitOf(action, context.table) : null;
  if (limit !== null && !neverTrue(rule)) context.report(path, limit);
  return rule;
}

/**
 * Why a rule for this action makes no sense, because the table does not allow the action to anybody. It is mostly
 * tables of existing databases that have such limits (docs/guides/existing-database.md).
 */
function limitOf(action: RuleAction, { name, virtual, primaryKey, historyDays }: Table): string | null {
  if (action === "history" && historyDays === null)
    return `table ${name} keeps no history: say how long in svc.schema.yaml, as in history: 30d, or remove this rule`;
  if (virtual && action !== "read") return `table ${name} is virtual: it can only be read, so remove this rule`;
  const needsKey = action === "update" || action === "delete";
  return needsKey && primaryKey.length === 0
    ? `table ${name} has no primary key: it can only be read and added to. Give it a primary_key, or remove this rule`
    : null;
}

function columnRules(
  source: ReadonlyMap<string, ColumnRulesSource>,
  context: TableRulesContext,
): ReadonlyMap<ColumnName, ColumnRules> {
  const rules = new Map<ColumnName, ColumnRules>();
  for (const [name, { read, write }] of source) {
    const path = dottedPath(["rules", context.table.name, "columns", name]);
    const column = context.table.columns.get(name);
    if (column === undefined && !mayHaveColumn(context.schema, context.table.name, name)) {
      context.report(
        path,
        `unknown column ${shown(name)} of table ${context.table.name}${meantOrKnown(name, ...suggestedColumns(context.schema, context.table))}`,
      );
      continue;
    }
    const found = {
      read: readRule(`${path}.read`, "column", read ?? "public", context),
      write: write === undefined ? null : readRule(`${path}.write`, "column", write, context),
    };
    if (column !== undefined) rules.set(column.name, found);
  }
  return rules;
}

function readRule(
  path: string,
  kind: RuleKind,
  text: string,
  { schema, table, conditions, reportIn }: TableRulesContext,
): Expression {
  const { expression, problems } = parseRule(text, ruleScope(schema, table, kind, conditions));
  for (const problem of problems) reportIn({ path, kind: "rule", text }, problem);
  return expression;
}
