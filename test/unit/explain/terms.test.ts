import { describe, expect, it } from "vitest";
import { expressionOf, type Truth, termsAndUsesIn, termsIn, truthOf, truthsIn } from "../../../src/explain/truths.js";
import { rowShapes, ruleScope } from "../../../src/project/rule-scope.js";
import { defineConditions } from "../../../src/rules/define-conditions.js";
import { parseRule } from "../../../src/rules/parse-rule.js";
import { offsetIn } from "../../../src/rules/position.js";
import { type TermTree, termTree } from "../../../src/rules/term-tree.js";
import { schemaOf, table } from "../rules/fixture.js";

const schema = schemaOf([
  table("posts", { id: "integer", owner: "text", flag: "boolean", body: "text" }),
  table("members", { room: "integer", user: "text" }),
]);
const source = new Map([
  ["mine(id)", "id = auth.id"],
  ["open(flag)", "flag and not (1 = 2)"],
  ["either(id, flag)", "mine(id) or open(flag)"],
]);
const { conditions } = defineConditions(source, rowShapes(schema));
const scope = ruleScope(schema, schema.tables.get("posts")!, "update", conditions);

function treeOf(text: string): TermTree {
  const tree = termTree(text, scope);
  if (tree === null) throw new Error(`${text} has a problem`);
  return tree;
}

/** Each term as it is written, with the text that it is written in. */
function written(text: string): readonly string[] {
  return termsAndUsesIn(treeOf(text)).map(({ place: { key, from, to } }) => {
    const whole = key === null ? text : source.get(key)!;
    return `${key ?? ""}|${whole.slice(offsetIn(whole, from), offsetIn(whole, to))}`;
  });
}

describe("the terms of a rule", () => {
  it.each([
    ["public", ["|public"]],
    ["row.flag", ["|row.flag"]],
    ["row.owner = auth.id and row.body is not null", ["|row.owner = auth.id", "|row.body is not null"]],
    ["((row.owner) = (auth.id)) or not row.flag", ["|(row.owner) = (auth.id)", "|row.flag"]],
    ["not (row.id in (1, 2) and\n  row.id not in (3))", ["|row.id in (1, 2)", "|row.id not in (3)"]],
    [
      "exists(members m where m.room = row.id and (m.user = 'a)') ) or null",
      ["|exists(members m where m.room = row.id and (m.user = 'a)') )", "|null"],
    ],
    ["  row.id=1\n and\ttrue", ["|row.id=1", "|true"]],
    ["mine(row.owner)", ["|mine(row.owner)", "mine(id)|id = auth.id"]],
    ["open(old.flag)", ["|open(old.flag)", "open(flag)|flag", "open(flag)|1 = 2"]],
    [
      "deny or either(new.owner, row.flag)",
      [
        "|deny",
        "|either(new.owner, row.flag)",
        "either(id, flag)|mine(id)",
        "mine(id)|id = auth.id",
        "either(id, flag)|open(flag)",
        "open(flag)|flag",
        "open(flag)|1 = 2",
      ],
    ],
  ])("of %s have their places", (text, expected) => {
    expect(written(text)).toEqual(expected);
    expect(expressionOf(treeOf(text))).toEqual(parseRule(text, scope).expression);
  });

  it("are not known of a text with a problem", () => {
    for (const text of ["row.", "row.nothing = 1", "mine()", "old.id = 'a'"]) expect(termTree(text, scope)).toBeNull();
  });
});

describe("what a rule comes to", () => {
  const three: readonly Truth[] = [true, false, null, undefined];
  const of = (text: string, ...truths: readonly Truth[]) => {
    const tree = treeOf(text);
    return truthOf(tree, new Map(termsIn(tree).map((term, i) => [term, truths[i]])));
  };

  it("is SQL's three-valued logic, and unknown where an unknown term could change it", () => {
    const and = three.flatMap((a) => three.map((b) => of("row.id = 1 and row.flag", a, b)));
    const or = three.flatMap((a) => three.map((b) => of("row.id = 1 or row.flag", a, b)));
    const [T, F, N, U] = three;
    expect(and).toEqual([T, F, N, U, F, F, F, F, N, F, N, U, U, F, U, U]);
    expect(or).toEqual([T, T, T, T, T, F, N, U, T, N, N, U, T, U, U, U]);
    expect(three.map((a) => of("not row.flag", a))).toEqual([F, T, N, U]);
    expect(of("either(row.owner, row.flag)", false, null, false)).toBe(null);
  });

  it("is read from digits", () => {
    expect(truthsIn("102")).toEqual([true, false, null]);
    expect(truthsIn("")).toEqual([]);
  });
});
