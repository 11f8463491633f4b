import type { Column, Schema, Table } from "../../../src/project/model.js";
import { ruleScope } from "../../../src/project/rule-scope.js";
import type { Expression } from "../../../src/rules/ast.js";
import { parseRule } from "../../../src/rules/parse-rule.js";
import type { RuleProblem } from "../../../src/rules/position.js";
import type { RuleKind } from "../../../src/rules/scope.js";
import type { ColumnType } from "../../../src/sqlite/column-type.js";
import { columnName, tableName } from "../../../src/sqlite/names.js";

/** Two tables: one with a column of every type, one for `exists` to look in. */
export const schema: Schema = schemaOf([
  table("messages", {
    id: "integer",
    room_id: "text",
    owner_id: "text",
    score: "real",
    published: "boolean",
    data: "json",
    file: "blob",
    public: "boolean",
  }),
  table("members", { room_id: "text", user_id: "text", level: "integer", active: "boolean" }),
]);

export function schemaOf(tables: readonly Table[]): Schema {
  return {
    tables: new Map(tables.map((each) => [each.name, each])),
    auth: {
      registration: "public",
      emailVerification: { required: false, url: "" },
      invitationUrl: "",
      passwordResetUrl: "",
      emailChangeUrl: "",
      providers: [],
      redirectUrls: [],
    },
    origins: [],
    operations: new Map(),
  };
}

/** The first column is the primary key. */
export function table(name: string, types: Readonly<Record<string, ColumnType>>): Table {
  const columns = Object.entries(types).map(([column, type]) => columnOf(column, type));
  return {
    name: tableName(name),
    columns: new Map(columns.map((column) => [column.name, column])),
    primaryKey: columns.slice(0, 1).map((column) => column.name),
    unique: [],
    indexes: [],
    search: [],
    searchTokenizer: "unicode61",
    triggers: new Map(),
    historyDays: null,
    strict: true,
    virtual: false,
    renamedFrom: null,
  };
}

function columnOf(name: string, type: ColumnType): Column {
  return {
    name: columnName(name),
    type,
    notNull: false,
    default: null,
    check: null,
    references: null,
    managed: null,
    renamedFrom: null,
  };
}

/** The expression of a rule for `messages`. */
export function rule(text: string, kind: RuleKind = "update"): Expression {
  const { expression, problems } = read(text, kind);
  if (problems.length > 0) throw new Error(problems.map(placed).join("\n"));
  return expression;
}

/** What is wrong with a rule for `messages`. */
export function problemsOf(text: string, kind: RuleKind = "update"): readonly string[] {
  return read(text, kind).problems.map(placed);
}

function placed({ at, message }: RuleProblem): string {
  return `line ${at.line}, column ${at.column}: ${message}`;
}

function read(text: string, kind: RuleKind) {
  return parseRule(text, ruleScope(schema, schema.tables.get("messages")!, kind));
}
