import { expect, test } from "vitest";
import { problemsOf, rule } from "./fixture.js";

test.each([
  // or < and < not < comparison
  ["row.id = 1 or row.id = 2 and row.id = 3", "row.id = 1 or (row.id = 2 and row.id = 3)"],
  ["not row.id = 1 and row.id = 2", "(not (row.id = 1)) and row.id = 2"],
  ["not not row.published", "not (not row.published)"],
  ["not row.owner_id is null", "not (row.owner_id is null)"],
  ["not row.id in (1)", "not (row.id in (1))"],
  ["row.id not in (1, 2)", "not row.id in (1, 2)"],
  ["((row.id)) = (1)", "row.id = 1"],
  ["row.id=1", "row.id = 1"],
  ["ROW_NUMBER", null],
  ["row.id IS NOT NULL AND NOT row.id IN (1)", "row.id is not null and not row.id in (1)"],
  ["row.public", "row.public = true"],
])("%s reads as %s", (text, meaning) => {
  if (meaning === null) expect(problemsOf(text)).toHaveLength(1);
  else expect(rule(text)).toEqual(rule(meaning));
});

test("a chain of one operator is one node", () => {
  expect(rule("row.id = 1 and row.id = 2 and row.id = 3")).toMatchObject({
    kind: "and",
    terms: { length: 3 },
  });
  expect(rule("row.id = 1 or row.id = 2 or row.id = 3")).toMatchObject({ kind: "or", terms: { length: 3 } });
});

test.each([
  ["", "line 1, column 1: expected a condition or a value, found the end of the rule"],
  ["row.id =", "line 1, column 9: expected a condition or a value, found the end of the rule"],
  ["row.id = = 1", "line 1, column 10: expected a condition or a value, found ="],
  ["row.id = not 1", "line 1, column 10: expected a condition or a value, found not"],
  ["row.id = 1 row.id", "line 1, column 12: expected and, or or the end, found row"],
  ["row.id = 1)", "line 1, column 11: expected and, or or the end, found )"],
  ["(row.id = 1", "line 1, column 12: expected ), found the end of the rule"],
  ["1 < row.id < 3", "line 1, column 12: comparisons do not chain: expected and, or or the end, found <"],
  [
    "row.published = true is null",
    "line 1, column 22: comparisons do not chain: expected and, or or the end, found is",
  ],
  ["owner_id = auth.id", "line 1, column 10: expected . after owner_id, as in row.owner_id, found ="],
  ["row.", "line 1, column 5: expected a name after row., found the end of the rule"],
  ["row.'a'", "line 1, column 5: expected a name after row., found 'a'"],
  ["row.id is 1", "line 1, column 11: expected null, found 1"],
  ["row.id is not true", "line 1, column 15: expected null, found true"],
  ["row.id not 1", "line 1, column 12: expected in, found 1"],
  ["row.id in 1", "line 1, column 11: expected (, found 1"],
  ["row.id in ()", "line 1, column 12: expected a condition or a value, found )"],
  ["row.id in (1,)", "line 1, column 14: expected a condition or a value, found )"],
  ["row.id in (1 2)", "line 1, column 14: expected ), found 2"],
  ["now", "line 1, column 4: expected (, found the end of the rule"],
  ["now(1)", "line 1, column 5: expected ), found 1"],
  ["exists(members)", "line 1, column 15: expected an alias, as in exists(members m where …), found )"],
  ["exists(members where true)", "line 1, column 16: expected an alias, as in exists(members m where …), found where"],
  [
    "exists(members and where true)",
    "line 1, column 16: expected an alias, as in exists(members m where …), found and",
  ],
  ["exists(members m)", "line 1, column 17: expected where, found )"],
  ["exists(members as m where true)", "line 1, column 19: expected where, found m"],
  ["exists('members' m where true)", "line 1, column 8: expected a table, found 'members'"],
  ["exists(members m where true", "line 1, column 28: expected ), found the end of the rule"],
  ["row.id = 1\nand row.id <> 2", "line 2, column 12: write != instead of <>"],
  ["row.id = 1 = 'open", "line 1, column 12: comparisons do not chain: expected and, or or the end, found ="],
  [`row.id ${"'".repeat(100)}`, `line 1, column 8: expected and, or or the end, found ${"'".repeat(40)}…`],
])("refuses %j", (text, problem) => {
  expect(problemsOf(text)).toEqual([problem]);
});

test("64 levels are read, 65 are refused where the last one begins", () => {
  const nested = (levels: number) => `${"(".repeat(levels)}row.published${")".repeat(levels)}`;
  expect(rule(nested(64))).toEqual(rule("row.published"));
  expect(problemsOf(nested(65))).toEqual(["line 1, column 65: nested more than 64 levels deep"]);
  expect(problemsOf("not ".repeat(65))).toEqual(["line 1, column 257: nested more than 64 levels deep"]);
  expect(problemsOf("exists(members m where ".repeat(65))).toEqual([
    "line 1, column 1473: nested more than 64 levels deep",
  ]);
  expect(problemsOf("(".repeat(10_000))).toHaveLength(1);
});

test("levels side by side do not add up", () => {
  expect(rule(Array(200).fill("(not row.published)").join(" and "))).toMatchObject({
    terms: { length: 200 },
  });
});

test("a rule has at most 10000 characters", () => {
  expect(rule("public".padEnd(10_000))).toEqual(rule("public"));
  expect(problemsOf("public".padEnd(10_001))).toEqual(["line 1, column 1: longer than 10000 characters"]);
});
