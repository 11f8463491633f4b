import { describe, expect, test } from "vitest";
import { alwaysTrue, neverTrue } from "../../../src/rules/fold.js";
import { admitsAnonymous } from "../../../src/rules/specialise.js";
import { columnsOf, conjuncts, mentionsRow, substitute } from "../../../src/rules/walk.js";
import { rule } from "./fixture.js";

test.each([
  ["public", true],
  ["deny", false],
  ["authenticated", false],
  ["not authenticated", true],
  ["row.published", true],
  ["row.owner_id = auth.id", false],
  ["not (row.owner_id = auth.id)", false],
  ["row.owner_id = auth.id or row.published", true],
  ["exists(members m where m.user_id = auth.id)", false],
  ["not exists(members m where m.user_id = auth.id)", true],
  ["auth.role in ('admin', 'editor')", false],
  ["auth.role not in ('banned')", false],
  ["now() > 1", true],
  ["now() < 1", true],
  ["now() is null", false],
  ["now() > 1 and auth.role = 'admin'", false],
])("%s admits an anonymous caller: %s", (text, admits) => {
  expect(admitsAnonymous(rule(text))).toBe(admits);
});

test.each([
  ["deny", true, false],
  ["null", true, false],
  ["not null", true, false],
  ["not (row.owner_id = null)", true, false],
  ["row.published and null", true, false],
  ["public", false, true],
  ["row.published or 1 = 1", false, true],
  ["row.published", false, false],
])("%s: never true %s, always true %s", (text, never, always) => {
  expect(neverTrue(rule(text))).toBe(never);
  expect(alwaysTrue(rule(text))).toBe(always);
});

test("conjuncts are the terms of and, nested ones too", () => {
  expect(conjuncts(rule("row.id = 1 and (row.id = 2 and row.id = 3)"))).toEqual([
    rule("row.id = 1"),
    rule("row.id = 2"),
    rule("row.id = 3"),
  ]);
  expect(conjuncts(rule("row.id = 1 or row.id = 2"))).toEqual([rule("row.id = 1 or row.id = 2")]);
  expect(conjuncts(rule("public"))).toEqual([rule("public")]);
});

describe("columns", () => {
  const text = `row.id in (1, row.score) and not (new.owner_id = auth.id) or
    exists(members m where m.level > 1 and m.room_id = row.room_id and new.data is null)`;

  test("of row and of new, inside exists too, without those of an alias", () => {
    expect([...columnsOf(rule(text), "row")]).toEqual(["id", "score", "room_id"]);
    expect([...columnsOf(rule(text), "new")]).toEqual(["owner_id", "data"]);
  });

  test("mentioned", () => {
    expect(mentionsRow(rule(text), "new")).toBe(true);
    expect(mentionsRow(rule("row.published and now() > 1"), "new")).toBe(false);
    expect(mentionsRow(rule("exists(members m where m.room_id = new.room_id)"), "new")).toBe(true);
    expect(mentionsRow(rule("public"), "row")).toBe(false);
  });
});

test("substitute replaces columns everywhere and nothing else", () => {
  const expression = rule(`new.id = 1 and not (1 in (new.id, row.id)) and new.id is null and auth.id = 'a'
    and exists(members m where m.level = new.id or now() > 2)`);
  expect(
    substitute(expression, (reference) => (reference.source === "new" ? { kind: "literal", value: 7n } : reference)),
  ).toEqual(
    rule(`7 = 1 and not (1 in (7, row.id)) and 7 is null and auth.id = 'a'
    and exists(members m where m.level = 7 or now() > 2)`),
  );
});
