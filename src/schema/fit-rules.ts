import { schemaFile } from "../project/file-names.js";
import { operationPath } from "../project/parse-operations.js";
import { type ParsedRules, parseRules, type RulesSource } from "../project/parse-rules.js";
import { ruleProblems } from "../project/rule-problems.js";
import type { Expression } from "../rules/ast.js";
import { columnReferences, existsIn } from "../rules/walk.js";
import type { SchemaInForce } from "./in-force.js";
import type { Unsupported } from "./physical/unsupported.js";

/**
 * Parses the project's rules against the schema in force. The problems include rules that need a table or a column
 * which this database engine cannot read or compare.
 */
export function fitRules(source: RulesSource, { schema, catalog }: SchemaInForce): ParsedRules {
  const { rules, operations, problems } = parseRules(source, schema);
  const unmet = ruleProblems(rules, (rule, table) => unmetOf(rule, table, catalog.unsupported));
  const unmetByOperations = [...operations].flatMap(([name, { allow }]) =>
    unmetOf(allow, null, catalog.unsupported).map((message) => ({
      file: schemaFile,
      path: operationPath(name, "allow"),
      message,
    })),
  );
  return { rules, operations, problems: [...problems, ...unmet, ...unmetByOperations] };
}

/**
 * What a rule needs and this database engine cannot do: read a table that an `exists` looks into, or compare a column.
 * `table` is the one that the rule protects, null for the rule of an operation.
 */
function unmetOf(rule: Expression, table: string | null, { reads, columns }: Unsupported): readonly string[] {
  const exists = existsIn(rule);
  const unreadable = exists.flatMap((each) => {
    const reason = reads.get(each.table);
    return reason === undefined ? [] : [`table ${each.table} cannot be read here: ${reason}`];
  });
  const incomparable = columnReferences(rule).flatMap(({ source, column }) => {
    const tables =
      typeof source === "string"
        ? [table ?? ""]
        : exists.filter(({ alias }) => alias === source.alias).map((each) => each.table);
    const reason = tables.map((name) => columns.get(name)?.get(column)).find((each) => each !== undefined);
    return reason === undefined ? [] : [`column ${column} cannot be compared here: ${reason}`];
  });
  return [...new Set([...unreadable, ...incomparable])];
}
