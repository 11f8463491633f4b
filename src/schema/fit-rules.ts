import { configFile } from "../project/config-file.js";
import type { Problem } from "../project/problem.js";
import type { Expression } from "../project/rules/ast.js";
import { columnReferences } from "../project/rules/columns-of.js";
import { existsIn } from "../project/rules/leaves.js";
import { type ParsedRules, parseRules, type RulesSource } from "../project/rules/rules.js";
import type { SchemaInForce } from "./in-force.js";
import type { Unsupported } from "./unsupported.js";

/** The rules over the schema in force, and what is wrong with them there. */
export function fitRules(source: RulesSource, { schema, catalog }: SchemaInForce): ParsedRules {
  const { rules, problems } = parseRules(source, schema);
  const unmet = [...rules].flatMap(([table, { read, create, update, delete: remove }]) =>
    Object.entries({ read, create, update, delete: remove }).flatMap(([action, rule]): Problem[] =>
      unmetOf(rule, table, catalog.unsupported).map((message) => ({
        file: configFile,
        path: `rules.${table}.${action}`,
        message,
      })),
    ),
  );
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
  return [...new Set([...unreadable, ...incomparable])];
}
