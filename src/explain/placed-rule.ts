import { dottedPath } from "../problems/dotted-path.js";
import type { Config } from "../project/config.js";
import type { Table } from "../project/model.js";
import { placeInFile } from "../project/place-in-file.js";
import { rowShapes, ruleScope } from "../project/rule-scope.js";
import type { RuleAction } from "../rules/ast.js";
import { defineConditions } from "../rules/define-conditions.js";
import { offsetIn } from "../rules/position.js";
import { type TermPlace, type TermTree, termTree } from "../rules/term-tree.js";
import { conditionPath } from "../rules/write-out.js";
import type { LiveProject } from "../schema/live-project.js";
import type { ExplainedRule, ExplainedTerm } from "../wire/explanation.js";

/** Which rule of a table is meant: that of an action, or the one for reading or writing a column. */
export type RuleOf =
  | { readonly kind: "action"; readonly action: RuleAction }
  | { readonly kind: "column"; readonly column: string; readonly right: "read" | "write" };

/** A rule of svc.toml with its terms, and where they stand in the file. */
export interface PlacedRule {
  readonly of: RuleOf;
  readonly rule: ExplainedRule;
  readonly tree: TermTree;
  /** The text of a term, or of the use of a named condition, and where it is written in svc.toml. */
  readonly written: (place: TermPlace) => Pick<ExplainedTerm, "text" | "line" | "column" | "path">;
}

/** Finds a rule of a table in svc.toml. Where the file has no such rule, it is `deny`. */
export function placedRule(
  of: RuleOf,
  table: Table,
  { schema, source }: Pick<LiveProject, "schema" | "source">,
): PlacedRule {
  const { name, text } = textOf(of, table, source);
  const { conditions } = defineConditions(source.conditions, rowShapes(schema));
  const kind = of.kind === "action" ? of.action : "column";
  const tree = termTree(text, ruleScope(schema, table, kind, conditions));
  if (tree === null) throw new Error(`${name} does not fit the schema in force`);
  const placeOf = (path: string, offset: number) => {
    const runs = source.places.get(path);
    return runs === undefined ? { line: null, column: null } : placeInFile(runs, offset);
  };
  return {
    of,
    rule: { name, text, ...placeOf(name, 0) },
    tree,
    written: ({ key, from, to }) => {
      const path = key === null ? name : conditionPath(key);
      const whole = key === null ? text : source.conditions.get(key)!;
      const begin = offsetIn(whole, from);
      return { text: whole.slice(begin, offsetIn(whole, to)), path, ...placeOf(path, begin) };
    },
  };
}

function textOf(of: RuleOf, table: Table, { rules }: Pick<Config, "rules">) {
  const its = rules.get(table.name);
  if (of.kind === "action")
    return { name: dottedPath(["rules", table.name, of.action]), text: its?.[of.action] ?? "deny" };
  const { column, right } = of;
  const name = dottedPath(["rules", table.name, "columns", column, right]);
  return { name, text: its?.columns?.get(column)?.[right] ?? "deny" };
}
