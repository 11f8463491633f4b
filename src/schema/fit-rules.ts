import { type ParsedRules, parseRules, type RulesSource } from "../project/parse-rules.js";
import { ruleProblems } from "../project/rule-problems.js";
import type { Expression } from "../rules/ast.js";
import { columnReferences, existsIn } from "../rules/walk.js";
import type { SchemaInForce } from "./in-force.js";
import type { Unsupported } from "./unsupported.js";

/** The rules over the schema in force, and what is wrong with them there. */
export function fitRules(source: RulesSource, { schema, catalog }: SchemaInForce): ParsedRules {
  const { rules, problems } = parseRules(source, schema);
  const unmet = ruleProblems(rules, (rule, table) => unmetOf(rule, table, catalog.unsupported));
  return { rules, problems: [...problems, ...unmet] };
}

/** What a rule looks at and this engine cannot. */
function unmetOf(rule: Expression, table: string, { reads, columns }: Unsupported): readonly string[] {
  const exists = existsIn(rule);
  const unreadable = exists.flatMap((each) => {
    const reason = reads.get(each.table);
    return reason === undefined ? [] : [`table ${each.table} cannot be read here: ${reason}`];
  });
  const incomparable = columnReferences(rule).flatMap(({ source, column }) => {
    const tables =
      typeof source === "string"
        ? [table]
        : exists.filter(({ alias }) => alias === source.alias).map((each) => each.table);
    const reason = tables.map((name) => columns.get(name)?.get(column)).find((each) => each !== undefined);
    return reason === undefined ? [] : [`column ${column} cannot be compared here: ${reason}`];
  });
  return [...unreadable, ...incomparable];
}
