import { describe, expect, it } from "vitest";
import { ruleScope } from "../../../src/project/rule-scope.js";
import { areAlike } from "../../../src/rules/alike.js";
import { mutantsOf } from "../../../src/rules/mutants.js";
import { noConditions } from "../../../src/rules/named-condition.js";
import { parseRule } from "../../../src/rules/parse-rule.js";
import { schemaOf, table } from "./fixture.js";

const texts = (rule: string) => mutantsOf(rule, noConditions, null).map(({ change, text }) => [change, text]);

describe("mutantsOf", () => {
  it("drops, negates and weakens each term by where it stands", () => {
    expect(texts("row.a = auth.id")).toEqual([
      ["dropped", "true"],
      ["negated", "not (row.a = auth.id)"],
    ]);
    expect(texts("row.a = 'x' and row.n < 5")).toEqual([
      ["dropped", "true and row.n < 5"],
      ["negated", "not (row.a = 'x') and row.n < 5"],
      ["dropped", "row.a = 'x' and true"],
      ["negated", "row.a = 'x' and not (row.n < 5)"],
      ["weakened", "row.a = 'x' and row.n <= 5"],
    ]);
    expect(texts("row.n > now()").map(([change]) => change)).toEqual(["dropped", "negated"]);
    expect(texts("row.a = 'x' or row.b")).toEqual([
      ["dropped", "false or row.b"],
      ["negated", "not (row.a = 'x') or row.b"],
      ["weakened", "true or row.b"],
      ["dropped", "row.a = 'x' or false"],
      ["negated", "row.a = 'x' or not (row.b)"],
      ["weakened", "row.a = 'x' or true"],
    ]);
  });

  it("weakens under not what is admitted less", () => {
    expect(texts("not (row.n >= 5 and row.b)")).toEqual([
      ["dropped", "not (true and row.b)"],
      ["negated", "not (not (row.n >= 5) and row.b)"],
      ["weakened", "not (false and row.b)"],
      ["weakened", "not (row.n > 5 and row.b)"],
      ["dropped", "not (row.n >= 5 and true)"],
      ["negated", "not (row.n >= 5 and not (row.b))"],
      ["weakened", "not (row.n >= 5 and false)"],
    ]);
  });

  it("changes terms inside of exists, and leaves texts in quotes alone", () => {
    expect(texts("exists(t x where x.a = '<' and x.n > 1)").map(([, text]) => text)).toEqual([
      "true",
      "not (exists(t x where x.a = '<' and x.n > 1))",
      "exists(t x where true and x.n > 1)",
      "exists(t x where not (x.a = '<') and x.n > 1)",
      "exists(t x where x.a = '<' and true)",
      "exists(t x where x.a = '<' and not (x.n > 1))",
      "exists(t x where x.a = '<' and x.n >= 1)",
    ]);
    expect(texts("'<' < row.a").at(-1)).toEqual(["weakened", "'<' <= row.a"]);
  });

  it("has each text once, and none for a rule with mistakes", () => {
    expect(texts("true")).toEqual([["negated", "not (true)"]]);
    expect(texts("row.a = ")).toEqual([]);
  });
});

const columns = { id: "text", a: "text", b: "boolean", n: "integer" } as const;
const schema = schemaOf([table("t", columns), table("members", { who: "text", t: "text" })]);

function alike(one: string, other: string): boolean {
  const kind = /\bold\b/.test(one + other) ? "update" : /\bnew\b/.test(one + other) ? "create" : "read";
  const scope = ruleScope(schema, schema.tables.get("t")!, kind);
  const [left, right] = [one, other].map((text) => {
    const { expression, problems } = parseRule(text, scope);
    expect(problems).toEqual([]);
    return expression;
  });
  return areAlike(left!, right!, { table: "t", kind }, (name) => schema.tables.get(name));
}

describe("areAlike", () => {
  it.each([
    ["row.a = auth.id", "auth.id is not null and row.a = auth.id"],
    ["not (row.b and row.n > 1)", "not row.b or not (row.n > 1)"],
    ["row.n in (1, 2)", "row.n = 1 or row.n = 2"],
    ["exists(members m where m.who = auth.id)", "exists(members o where o.who = auth.id and auth.id is not null)"],
    ["new.a = old.a and row.a = 'x'", "new.a = old.a and old.a = 'x'"],
    ["row.n < 5", "not (row.n >= 5)"],
    ["auth.role in ('user', 'admin')", "auth.id is not null"],
    ["row.a = 'x' or exists(t o where o.id = row.id and o.a = 'x')", "exists(t o where o.id = row.id and o.a = 'x')"],
  ])("%s is %s", (one, other) => {
    expect(alike(one, other)).toBe(true);
  });

  it.each([
    ["row.a = auth.id", "row.a is not null"],
    ["row.a != auth.id", "not (row.a is null)"],
    ["row.n < 5", "row.n <= 5"],
    ["row.n > now()", "row.n >= now()"],
    ["exists(members m where m.who = auth.id and m.t = row.a)", "exists(members m where m.who = auth.id)"],
    ["row.a = 'x'", "old.a = 'x'"],
    ["auth.role = 'admin'", "auth.role = 'admin' or auth.id is null"],
    ["row.b", "row.b is not null"],
    ["row.a >= '2024-01-01' and row.b", "row.b and row.a is not null"],
    ["row.a < '2024' and row.b", "row.b and row.a is not null"],
    ["row.a in ('free', 'b')", "row.a is not null"],
    ["new.a = 'x' or exists(t o where o.id = new.id and o.a = 'x')", "exists(t o where o.id = new.id and o.a = 'x')"],
    [
      "exists(members m where m.t = row.a and exists(t o where o.id = m.who and o.n = 7 and o.a = auth.id and o.b))",
      "exists(members m where m.t = row.a and exists(t o where o.id = m.who and o.n = 7 and o.b))",
    ],
  ])("%s is not %s", (one, other) => {
    expect(alike(one, other)).toBe(false);
  });
});
