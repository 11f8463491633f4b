import { describe, expect, test } from "vitest";
import type { RuleKind } from "../../../src/rules/scope.js";
import { problemsOf, rule } from "./fixture.js";

const TRUE = { kind: "literal", value: true };
const FALSE = { kind: "literal", value: false };
const rowColumn = (column: string) => ({ kind: "column", source: "row", column });
const authId = { kind: "auth", field: "id" };

describe("typed expressions", () => {
  test.each([
    ["public", TRUE],
    ["deny", FALSE],
    ["authenticated", { kind: "is_null", value: authId, negated: true }],
    ["true", TRUE],
    ["null", { kind: "literal", value: null }],
    ["not public", { kind: "not", term: TRUE }],
    ["public and deny", { kind: "and", terms: [TRUE, FALSE] }],
    ["row.published", { kind: "compare", operator: "=", left: rowColumn("published"), right: TRUE }],
    ["row.owner_id = auth.id", { kind: "compare", operator: "=", left: rowColumn("owner_id"), right: authId }],
    [
      "new.id != 2",
      {
        kind: "compare",
        operator: "!=",
        left: { kind: "column", source: "new", column: "id" },
        right: { kind: "literal", value: 2n },
      },
    ],
    ["now() >= row.score", { kind: "compare", operator: ">=", left: { kind: "now" }, right: rowColumn("score") }],
    [
      "auth.role in ('admin', row.owner_id, null)",
      {
        kind: "in",
        value: { kind: "auth", field: "role" },
        list: [{ kind: "literal", value: "admin" }, rowColumn("owner_id"), { kind: "literal", value: null }],
      },
    ],
    ["row.data is null", { kind: "is_null", value: rowColumn("data"), negated: false }],
    ["row.file is not null", { kind: "is_null", value: rowColumn("file"), negated: true }],
    [
      "exists($users u where u.role = auth.role)",
      {
        kind: "exists",
        table: "$users",
        alias: "u",
        where: {
          kind: "compare",
          operator: "=",
          left: { kind: "column", source: { alias: "u" }, column: "role" },
          right: { kind: "auth", field: "role" },
        },
      },
    ],
  ])("%s", (text, expression) => {
    expect(rule(text)).toEqual(expression);
  });

  test("exists sees row, new, auth and the aliases outside of it", () => {
    const text = `exists(members m where m.room_id = row.room_id and new.id > 0
      and exists($users u where u.id = m.user_id and u.id = auth.id))`;
    expect(problemsOf(text)).toEqual([]);
  });

  test("an alias ends with its exists", () => {
    expect(problemsOf("exists(members m where true) and exists(members m where m.active)")).toEqual([]);
    expect(problemsOf("exists(members m where true) and m.active")).toEqual([
      "line 1, column 34: unknown name m; there are row, old, new, auth",
    ]);
  });
});

test.each<[RuleKind, string, readonly string[]]>([
  ["read", "row.published", []],
  ["read", "new.published", ["line 1, column 1: there is no new in a read rule: row is the stored row"]],
  ["create", "new.published", []],
  ["create", "row.published", ["line 1, column 1: there is no row in a create rule: new is the row as it would be"]],
  ["update", "row.published and new.published", []],
  ["delete", "row.published", []],
  ["read", "old.published", ["line 1, column 1: there is no old in a read rule: row is the stored row"]],
  ["create", "old.published", ["line 1, column 1: there is no old in a create rule: new is the row as it would be"]],
  ["delete", "new.published", ["line 1, column 1: there is no new in a delete rule: row is the stored row"]],
  ["column", "auth.role = 'admin' or now() > 1", []],
  ["column", "row.published", ["line 1, column 1: a column rule knows auth alone, not row"]],
  ["column", "new.published", ["line 1, column 1: a column rule knows auth alone, not new"]],
  [
    "column",
    "authenticated and exists(members m where m.active)",
    ["line 1, column 19: a column rule knows auth alone, not exists"],
  ],
])("in a %s rule, %s", (kind, text, problems) => {
  expect(problemsOf(text, kind)).toEqual(problems);
});

describe("names", () => {
  test.each([
    [
      "row.foo = 1",
      "line 1, column 1: unknown column row.foo of table messages; there are id, room_id, owner_id, score, published, data, file, public",
    ],
    ["row.ID = 1", "line 1, column 1: unknown column row.ID of table messages; did you mean id?"],
    [
      "row.constructor is null",
      "line 1, column 1: unknown column row.constructor of table messages; there are id, room_id, owner_id, score, published, data, file, public",
    ],
    [
      "row.$users is null",
      "line 1, column 1: unknown column row.$users of table messages; there are id, room_id, owner_id, score, published, data, file, public",
    ],
    ["Row.id = 1", "line 1, column 1: unknown name Row; did you mean row?"],
    ["messages.id = 1", "line 1, column 1: unknown name messages; there are row, old, new, auth"],
    ["toString.id = 1", "line 1, column 1: unknown name toString; there are row, old, new, auth"],
    [
      "auth.name = 'a'",
      "line 1, column 1: unknown field auth.name: there are auth.id, auth.email, auth.email_verified and auth.role",
    ],
    ["exists(rooms r where r.id = 1)", "line 1, column 8: unknown table rooms; there are messages, members, $users"],
    ["exists(Members m where true)", "line 1, column 8: unknown table Members; did you mean members?"],
    [
      "exists(constructor m where true)",
      "line 1, column 8: unknown table constructor; there are messages, members, $users",
    ],
    [
      "exists(members m where m.name = '')",
      "line 1, column 24: unknown column m.name of table members; there are room_id, user_id, level, active",
    ],
    ["exists($users u where u.email = '')", "line 1, column 23: unknown column u.email: $users offers id and role"],
    ["exists(members row where true)", "line 1, column 16: row cannot be an alias"],
    ["exists(members NEW where true)", "line 1, column 16: NEW cannot be an alias"],
    ["exists(members auth where true)", "line 1, column 16: auth cannot be an alias"],
    ["exists(members $users where true)", "line 1, column 16: $users cannot be an alias"],
    [
      "exists(members m where exists(members M where true))",
      "line 1, column 39: the alias M is taken by an enclosing exists",
    ],
  ])("%s", (text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });
});

describe("types", () => {
  test.each([
    "row.id = row.score",
    "row.id = 1.5",
    "row.score < 1",
    "row.id < now()",
    "row.owner_id < 'a'",
    "row.published = true",
    "row.published != row.public",
    "row.published in (true, false)",
    "row.id = null",
    "null = null",
    "null < 'a'",
    "row.id in (1, 2.5, null)",
    "null in (1, 'a')",
  ])("%s fits", (text) => {
    expect(problemsOf(text)).toEqual([]);
  });

  test.each([
    [
      "row.owner_id = 12",
      "line 1, column 14: cannot compare row.owner_id (text) with 12 (integer); as text it is '12'",
    ],
    ["1.5 < row.owner_id", "line 1, column 5: cannot compare 1.5 (real) with row.owner_id (text); as text it is '1.5'"],
    ["row.id = 'it''s'", "line 1, column 8: cannot compare row.id (integer) with 'it''s' (text)"],
    ["now() = auth.id", "line 1, column 7: cannot compare now() (integer) with auth.id (text)"],
    ["row.published = 1", "line 1, column 15: cannot compare row.published (boolean) with 1 (integer); write true"],
    ["row.id in (1, true)", "line 1, column 15: cannot compare row.id (integer) with true (boolean)"],
    ["row.published < true", "line 1, column 15: booleans compare with = and !=, not with <"],
    ["null >= row.published", "line 1, column 6: booleans compare with = and !=, not with >="],
    ["row.data = 'a'", "line 1, column 1: row.data is json, which only is null and is not null can test"],
    ["null = row.file", "line 1, column 8: row.file is blob, which only is null and is not null can test"],
    ["row.data in ('a', 'b')", "line 1, column 1: row.data is json, which only is null and is not null can test"],
    ["row.owner_id", "line 1, column 1: expected a condition, row.owner_id is text: compare it with something"],
    ["not 1", "line 1, column 5: expected a condition, 1 is integer: compare it with something"],
    ["public or auth.id", "line 1, column 11: expected a condition, auth.id is text: compare it with something"],
    ["now()", "line 1, column 1: expected a condition, now() is integer: compare it with something"],
    ["row.data", "line 1, column 1: expected a condition, row.data is json: test it with is not null"],
    ["(row.id = 1) = true", "line 1, column 9: expected a value, found a condition"],
    ["row.published = public", "line 1, column 17: expected a value, found a condition"],
    ["authenticated is null", "line 1, column 1: expected a value, found a condition"],
    ["row.published in (exists(members m where true))", "line 1, column 19: expected a value, found a condition"],
    ["(not row.published) = true", "line 1, column 2: expected a value, found a condition"],
  ])("%s", (text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });

  test("several problems are reported at once", () => {
    expect(problemsOf("row.foo = 1\nor row.id = 'a' and (row.data = 1 or row.owner_id)")).toEqual([
      "line 1, column 1: unknown column row.foo of table messages; there are id, room_id, owner_id, score, published, data, file, public",
      "line 2, column 11: cannot compare row.id (integer) with 'a' (text)",
      "line 2, column 22: row.data is json, which only is null and is not null can test",
      "line 2, column 38: expected a condition, row.owner_id is text: compare it with something",
    ]);
  });
});
