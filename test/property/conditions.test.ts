import { expect, test } from "vitest";
import { rowShapes, ruleScope } from "../../src/project/rule-scope.js";
import type { Expression, Operand } from "../../src/rules/ast.js";
import { defineConditions } from "../../src/rules/define-conditions.js";
import { parseRule } from "../../src/rules/parse-rule.js";
import { mapOperands } from "../../src/rules/walk.js";
import { schemaOf, table } from "../unit/rules/fixture.js";
import { columnOf, exists, print } from "./support/print.js";
import { Random } from "./support/random.js";
import { randomRule, type Shape } from "./support/random-rule.js";

const rules = Number(process.env.RULES ?? 500);

const shape: Shape = { id: "integer", name: "text", size: "real", flag: "boolean" };
const schema = schemaOf([table("items", shape), table("others", shape)]);
const items = schema.tables.get("items")!;

/** A text under way: that of a rule, or of a condition with the parameters that it has so far. */
interface Text {
  /** What the aliases of the rule are called in this text. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Null in the text of a rule. */
  readonly parameters: Map<string, { readonly name: string; readonly value: Operand }> | null;
}

/**
 * The text of a rule in which parts are conditions, and parts of these, too. Each text calls its aliases `m0`, `m1` and so
 * on from the outside in, so that those of a condition are mostly taken where it is used.
 */
function cut(rule: Expression, random: Random) {
  const conditions = new Map<string, string>();
  const write = (node: Expression, text: Text): string => (random.chance(0.3) ? use(node, text) : writeOut(node, text));
  const use = (node: Expression, text: Text): string => {
    const inner = { aliases: new Map<string, string>(), parameters: new Map() };
    const body = write(node, inner);
    const parameters: readonly { name: string; value: Operand }[] = [...inner.parameters.values()];
    const name = `c${conditions.size}`;
    conditions.set(`${name}(${parameters.map((each) => each.name).join(", ")})`, body);
    return `${name}(${parameters.map(({ value }) => operand(value, text)).join(", ")})`;
  };
  const writeOut = (node: Expression, text: Text): string => {
    switch (node.kind) {
      case "and":
      case "or":
        return `(${node.terms.map((term) => write(term, text)).join(` ${node.kind} `)})`;
      case "not":
        return `(not ${write(node.term, text)})`;
      case "exists": {
        const alias = `m${text.aliases.size}`;
        const inner = { ...text, aliases: new Map([...text.aliases, [node.alias, alias]]) };
        return `exists(${node.table} ${alias} where ${write(node.where, inner)})`;
      }
      default: {
        // Printed with the text of each operand as a name between signs that no rule has.
        const marked = mapOperands(node, (each) => columnOf(`«${operand(each, text)}»`, "c"));
        return print(marked).replace(/«(.*?)»\.c/g, "$1");
      }
    }
  };
  const operand = (value: Operand, text: Text): string => {
    const isAlias = value.kind === "column" && typeof value.source === "object";
    const local = isAlias ? text.aliases.get((value.source as { alias: string }).alias) : undefined;
    if (isAlias && local !== undefined) return `${local}.${value.column}`;
    if (text.parameters === null || (value.kind !== "column" && random.chance(0.5))) return print(value);
    const known = text.parameters.get(print(value));
    const name = known?.name ?? `p${text.parameters.size}`;
    text.parameters.set(print(value), { name, value });
    return name;
  };
  return { text: write(rule, { aliases: new Map(), parameters: null }), conditions };
}

/** The rule with its aliases called `n0`, `n1` and so on, from the outside in. */
function renamed(rule: Expression, names: ReadonlyMap<string, string> = new Map()): Expression {
  switch (rule.kind) {
    case "and":
    case "or":
      return { ...rule, terms: rule.terms.map((term) => renamed(term, names)) };
    case "not":
      return { ...rule, term: renamed(rule.term, names) };
    case "exists": {
      const alias = `n${names.size}`;
      return exists(rule.table, alias, renamed(rule.where, new Map([...names, [rule.alias, alias]])));
    }
    default:
      return mapOperands(rule, (operand) =>
        operand.kind === "column" && typeof operand.source === "object"
          ? columnOf(names.get(operand.source.alias)!, operand.column)
          : operand,
      );
  }
}

test("a rule with conditions is the rule written out", () => {
  const random = new Random(Random.seedOfRun());
  let used = 0;
  let nested = 0;
  for (let i = 0; i < rules; i++) {
    const rule = randomRule(
      random,
      {
        sources: { row: shape, new: shape },
        tables: { items: shape, others: shape },
        literals: { number: [0n, 1n, 1.5], text: ["a", "b'"], boolean: [true, false] },
      },
      4,
    );
    const { text, conditions } = cut(rule, random);
    const defined = defineConditions(conditions, rowShapes(schema));
    const told = `${JSON.stringify(Object.fromEntries(conditions), null, 1)}\n${text}`;
    expect(defined.problems, told).toEqual([]);
    const { expression, problems } = parseRule(text, ruleScope(schema, items, "update", defined.conditions));
    expect(problems, told).toEqual([]);
    expect(renamed(expression), told).toEqual(renamed(rule));
    used += conditions.size;
    nested += [...conditions.values()].filter((body) => /\bc\d+\(/.test(body)).length;
  }
  // Neither is rare, or the agreement would say little.
  expect(used).toBeGreaterThan(rules);
  expect(nested).toBeGreaterThan(rules / 10);
});
