import { describe, expect, test } from "vitest";
import { parseRules } from "../../../src/project/parse-rules.js";
import { rowShapes, ruleScope } from "../../../src/project/rule-scope.js";
import { defineConditions } from "../../../src/rules/define-conditions.js";
import { parseRule } from "../../../src/rules/parse-rule.js";
import type { RuleKind } from "../../../src/rules/scope.js";
import { rule, schema } from "./fixture.js";

type Written = Readonly<Record<string, string | null>>;

function define(conditions: Written) {
  return defineConditions(new Map(Object.entries(conditions)), rowShapes(schema));
}

/** A rule for `messages` that uses conditions, none of which has problems. */
function read(conditions: Written, text: string, kind: RuleKind = "update") {
  const defined = define(conditions);
  expect(defined.problems).toEqual([]);
  return parseRule(text, ruleScope(schema, schema.tables.get("messages")!, kind, defined.conditions));
}

function expression(conditions: Written, text: string, kind?: RuleKind) {
  const { expression, problems } = read(conditions, text, kind);
  expect(problems).toEqual([]);
  return expression;
}

/** The problems of conditions that nothing uses. */
function problemsOf(conditions: Written): readonly string[] {
  return define(conditions).problems.map(
    ({ key, at, message }) => `${key}${at === null ? "" : ` ${at.line}:${at.column}`}: ${message}`,
  );
}

const member = { "member(room)": "exists(members m where m.room_id = room and m.user_id = auth.id)" };

describe("a condition means what it says, written out", () => {
  test.each<[Written, string, string]>([
    [member, "member(row.room_id)", "exists(members m where m.room_id = row.room_id and m.user_id = auth.id)"],
    [member, "not member('a')", "not exists(members m where m.room_id = 'a' and m.user_id = auth.id)"],
    [
      { "either(a, b)": "a = 1 or b = 2" },
      "row.public and either(row.id, row.score)",
      "row.public and (row.id = 1 or row.score = 2)",
    ],
    [{ "mine ( owner )": "owner = auth.id" }, "mine(new.owner_id)", "new.owner_id = auth.id"],
    [{ "admin()": "auth.role = 'admin'" }, "admin ( )", "auth.role = 'admin'"],
    [{ "set(flag)": "flag" }, "set(row.published)", "row.published"],
    [{ "set(flag)": "not flag" }, "set(true) or set(null)", "not true or not null"],
    [{ "listed(x, y)": "x in (y, 2, x)" }, "listed(now(), -3)", "now() in (-3, 2, now())"],
    [{ "there(x)": "x is not null" }, "there(row.data)", "row.data is not null"],
    [{ "later(x)": "x > now()" }, "later(row.score)", "row.score > now()"],
    [{ "a(x)": "b(x, 1) and x > 0", "b(y, x)": "y != x" }, "a(row.id)", "row.id != 1 and row.id > 0"],
    [{ "same(m)": "exists(members x where x.level = m)" }, "same(7)", "exists(members x where x.level = 7)"],
    [{ "Member(a)": "a = 1", "member(a)": "a = 2" }, "Member(row.id)", "row.id = 1"],
    [{ "exist(a)": "a = 1" }, "exist(row.id)", "row.id = 1"],
  ])("%j: %s", (conditions, text, writtenOut) => {
    expect(expression(conditions, text)).toEqual(rule(writtenOut));
  });

  test("in a rule of a column, where it asks no row", () => {
    expect(expression({ "has(role)": "auth.role = role" }, "has('admin')", "column")).toEqual(
      rule("auth.role = 'admin'", "column"),
    );
  });
});

describe("an argument means what it means where it is written", () => {
  test.each<[Written, string, string]>([
    [
      member,
      "exists(members m where m.level = 1 and member(m.room_id))",
      "exists(members m where m.level = 1 and exists(members m_2 where m_2.room_id = m.room_id and m_2.user_id = auth.id))",
    ],
    [
      member,
      "exists(members M where member(M.room_id))",
      "exists(members M where exists(members m_2 where m_2.room_id = M.room_id and m_2.user_id = auth.id))",
    ],
    [
      {
        "twice(r)": "exists(members m where m.room_id = r and once(m.user_id))",
        "once(u)": "exists(members m where m.user_id = u)",
      },
      "exists(members m_2 where exists(members m where twice(m.room_id) and m_2.active))",
      "exists(members m_2 where exists(members m where exists(members m_3 where m_3.room_id = m.room_id and exists(members m_4 where m_4.user_id = m_3.user_id)) and m_2.active))",
    ],
    [
      { "swap(a, b)": "one(b, a)", "one(a, b)": "a = 1 and b = 2" },
      "swap(row.id, row.score)",
      "row.score = 1 and row.id = 2",
    ],
    // Beside each other the aliases cannot meet, and stay.
    [
      { "one(x)": "exists(members m where m.level = x)" },
      "one(1) or exists(members m where m.level = 2) or one(3)",
      "exists(members m where m.level = 1) or exists(members m where m.level = 2) or exists(members m where m.level = 3)",
    ],
  ])("%j: %s", (conditions, text, writtenOut) => {
    expect(expression(conditions, text)).toEqual(rule(writtenOut));
  });
});

test.each<[Written, readonly string[]]>([
  [{ "a()": "" }, ["a() 1:1: expected a condition or a value, found the end of the rule"]],
  [{ "a(x)": "x = y" }, ["a(x) 1:5: unknown word y; did you mean x?"]],
  [{ "a(room)": "rom = 'a'" }, ["a(room) 1:1: unknown word rom; did you mean room?"]],
  [{ "a(room)": "else = 'a'" }, ["a(room) 1:1: unknown word else"]],
  [{ "a(x)": "x.id = 1" }, ["a(x) 1:1: x is a parameter: it is a value and has no columns"]],
  [{ "a(m)": "exists(members m where m.level = 1)" }, ["a(m) 1:16: m is a parameter: give the alias another name"]],
  [{ "a()": "row.id = 1" }, ["a() 1:1: a condition has no row: what it asks of a row is a parameter"]],
  [
    { "a()": "new.id = old.id" },
    [
      "a() 1:1: a condition has no new: what it asks of a row is a parameter",
      "a() 1:10: a condition has no old: what it asks of a row is a parameter",
    ],
  ],
  [{ "a()": "m.id = 1" }, ["a() 1:1: unknown name m; there is only auth"]],
  [
    { "a(r)": "exists(members m where m.rom_id = r and m.level = 'x')" },
    [
      "a(r) 1:24: unknown column m.rom_id of table members; did you mean room_id?",
      "a(r) 1:49: cannot compare m.level (integer) with 'x' (text)",
    ],
  ],
  [{ "a(r)": "exists(member m where m.x = r)" }, ["a(r) 1:8: unknown table member; did you mean members?"]],
  [{ "a(flag)": "auth.email_verified < flag" }, ["a(flag) 1:21: booleans compare with = and !=, not with <"]],
  [{ "a(x)": "bb(x)", "b(x)": "x = 1" }, ["a(x) 1:1: unknown condition bb; did you mean b?"]],
  [{ "a(x)": "x is null and\nexit(x, 1)" }, ["a(x) 2:1: unknown word exit; did you mean exists?"]],
  [{ "a(x)": "b(x, 1)", "b(x)": "x = 1" }, ["a(x) 1:1: b takes one argument, not 2, as written at conditions.b(x)"]],
  [{ "a()": "b()", "b(x, y)": "x = y" }, ["a() 1:1: b takes 2 arguments, not none, as written at conditions.b(x, y)"]],
  [{ "a()": "b(1)", "b()": "true" }, ["a() 1:1: b takes no arguments, not 1, as written at conditions.b()"]],
  [{ "a(x)": "b((x = 1))", "b(x)": "x" }, ["a(x) 1:6: expected a value, found a condition"]],
  [{ "a(x)": "x = b()", "b()": "true" }, ["a(x) 1:5: expected a value, found a condition"]],
  [{ "a(x)": "b", "b(x)": "x" }, ["a(x) 1:1: b is a condition: write its arguments behind it, or b()"]],
  [{ "a()": "b(1)", "b(x)": "x = 'a'" }, ["a() 1:1: cannot compare 1 (integer) with 'a' (text); as text it is '1'"]],
])("of %j it is told where it is written, though nothing uses it", (conditions, problems) => {
  expect(problemsOf(conditions)).toEqual(problems);
});

const unreadable = "expected a name and its parameters, as in member(room) or member()";

test.each<[Written, readonly string[]]>([
  [{ member: "true" }, [`member: ${unreadable}`]],
  [{ "member(room": "true" }, [`member(room: ${unreadable}`]],
  [{ "1(x)": "true" }, [`1(x): ${unreadable}`]],
  [{ "a(x,)": "true" }, [`a(x,): ${unreadable}`]],
  [{ "a($users)": "true" }, [`a($users): ${unreadable}`]],
  [{ "a(x y)": "true" }, [`a(x y): ${unreadable}`]],
  [{ "Exists(x)": "true" }, ["Exists(x): Exists is a word of rules: choose another name"]],
  [{ "row(x)": "true" }, ["row(x): row is a word of rules: choose another name"]],
  [{ "a(x, Row)": "true" }, ["a(x, Row): Row is a word of rules: choose another name"]],
  [{ "a(old)": "true" }, ["a(old): old is a word of rules: choose another name"]],
  [{ "a(auth)": "true" }, ["a(auth): auth is a word of rules: choose another name"]],
  [{ "a(where)": "true" }, ["a(where): where is a word of rules: choose another name"]],
  [{ "a(x, y, x)": "true" }, ["a(x, y, x): there are two parameters x"]],
  [{ "a(x)": "true", "a(x, y)": "true" }, ["a(x, y): there is another condition a"]],
])("%j has a key that cannot be used", (conditions, problems) => {
  expect(problemsOf(conditions)).toEqual(problems);
});

test.each<[Written, readonly string[]]>([
  [{ "a()": "a()" }, ["a() 1:1: a condition cannot use itself: a → a"]],
  [
    { "a(x)": "x = 1 or b(x)", "b(x)": "c(x)", "c(x)": "not a(x)" },
    [
      "c(x) 1:5: a condition cannot use itself: a → b → c → a",
      "b(x) 1:1: c has problems of its own, at conditions.c(x)",
      "a(x) 1:10: b has problems of its own, at conditions.b(x)",
    ],
  ],
  [
    { "user()": "loop()", "loop()": "back()", "back()": "loop()" },
    [
      "back() 1:1: a condition cannot use itself: loop → back → loop",
      "loop() 1:1: back has problems of its own, at conditions.back()",
      "user() 1:1: loop has problems of its own, at conditions.loop()",
    ],
  ],
])("%j goes round in a circle", (conditions, problems) => {
  expect(problemsOf(conditions)).toEqual(problems);
});

describe("a use that does not fit", () => {
  const levels = { "level(room, at)": "exists(members m where m.room_id = room\n  and m.level >= at)" };

  test.each<[string, RuleKind, unknown[]]>([
    [
      "row.public or level(row.id, 1)",
      "read",
      [
        {
          at: { line: 1, column: 15, written: { key: "level(room, at)", at: { line: 1, column: 34 } } },
          message: "cannot compare m.room_id (text) with row.id (integer)",
        },
      ],
    ],
    [
      "level(row.room_id, row.data)",
      "read",
      [
        {
          at: { line: 1, column: 1, written: { key: "level(room, at)", at: { line: 2, column: 18 } } },
          message: "row.data is json, which only is null and is not null can test",
        },
      ],
    ],
    [
      "level('a', 1)",
      "column",
      [
        {
          at: { line: 1, column: 1, written: { key: "level(room, at)", at: { line: 1, column: 1 } } },
          message: "a column rule knows auth alone, not exists",
        },
      ],
    ],
    [
      "level(row.rom_id, 1)",
      "read",
      [
        {
          at: { line: 1, column: 7 },
          message: "unknown column row.rom_id of table messages; did you mean room_id?",
        },
      ],
    ],
    [
      "level(row.room_id, 1)",
      "create",
      [
        {
          at: { line: 1, column: 7 },
          message: "there is no row in a create rule: new is the row as it would be",
        },
      ],
    ],
    [
      "lvl(row.id) = 3",
      "read",
      [{ at: { line: 1, column: 1 }, message: "unknown condition lvl; there is only level" }],
    ],
    [
      "level(row.room_id)",
      "read",
      [
        {
          at: { line: 1, column: 1 },
          message: "level takes 2 arguments, not 1, as written at conditions.level(room, at)",
        },
      ],
    ],
  ])("%s in a %s rule", (text, kind, problems) => {
    expect(read(levels, text, kind).problems).toEqual(problems);
    expect(read(levels, text, kind).expression).toEqual({ kind: "literal", value: false });
  });

  test("by way of another condition is told where the inner one and the rule are written", () => {
    const conditions = { ...levels, "high(where_)": "level(where_, 9)" };
    expect(read(conditions, "high(row.id)").problems).toEqual([
      {
        at: { line: 1, column: 1, written: { key: "level(room, at)", at: { line: 1, column: 34 } } },
        message: "cannot compare m.room_id (text) with row.id (integer)",
      },
    ]);
  });

  test("where there are no conditions, that is said", () => {
    expect(read({}, "length(row.room_id) > 3").problems).toEqual([
      { at: { line: 1, column: 1 }, message: "unknown condition length; [conditions] has none" },
    ]);
  });

  test("is told in svc.toml at the rule and at the condition, once for each rule", () => {
    const { problems } = parseRules(
      {
        rules: new Map([["messages", { read: "level(row.id, 1) or level(row.id, 2)" }]]),
        conditions: new Map(Object.entries({ ...levels, "broken()": "tru", "unread()": null })),
      },
      schema,
    );
    expect(problems).toEqual([
      {
        file: "svc.toml",
        path: "conditions.broken()",
        message: "line 1, column 1 of the condition: unknown word tru\n    tru\n    ^",
      },
      {
        file: "svc.toml",
        path: "rules.messages.read",
        message:
          "line 1, column 1 of the rule: cannot compare m.room_id (text) with row.id (integer) (line 1, column 34 of conditions.level(room, at))\n    level(row.id, 1) or level(row.id, 2)\n    ^",
      },
      {
        file: "svc.toml",
        path: "conditions.level(room, at)",
        message:
          "line 1, column 34 of the condition: cannot compare m.room_id (text) with row.id (integer) (used by rules.messages.read)\n    exists(members m where m.room_id = room\n                                     ^",
      },
      {
        file: "svc.toml",
        path: "rules.messages.read",
        message:
          "line 1, column 21 of the rule: cannot compare m.room_id (text) with row.id (integer) (line 1, column 34 of conditions.level(room, at))\n    level(row.id, 1) or level(row.id, 2)\n                        ^",
      },
    ]);
  });

  test("of a condition that could not be read is not told as that of one that is not there", () => {
    const { conditions } = define({ "unread(x)": null });
    const scope = ruleScope(schema, schema.tables.get("messages")!, "read", conditions);
    expect(parseRule("unread(row.id)", scope).problems.map(({ message }) => message)).toEqual([
      "unread has problems of its own, at conditions.unread(x)",
    ]);
  });
});

describe("what is written out is bounded", () => {
  const tooLong = "longer than 10000 characters, with its conditions written out";
  const tooDeep = "nested more than 64 levels deep, with its conditions written out";
  /** `a0` has 4 characters, and each further one twice as many as the one before it, and more. */
  const doubling = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, n) => [`a${n}()`, n === 0 ? "true" : `a${n - 1}() and a${n - 1}()`]),
    );

  test("in characters: as many as a rule may have", () => {
    const conditions = { "long()": "true".padEnd(4_000) };
    const uses = "long() and long()";
    expect(read(conditions, uses.padEnd(2_000)).problems).toEqual([]);
    expect(read(conditions, uses.padEnd(2_001)).problems).toEqual([{ at: { line: 1, column: 12 }, message: tooLong }]);
  });

  test("in characters of arguments, each time that they are put in", () => {
    const conditions = { "one(x)": `x in (${"x,".repeat(99)}x)` };
    const text = (length: number) => `one('${"a".repeat(length)}')`;
    expect(read(conditions, text(90)).problems).toEqual([]);
    expect(read(conditions, text(100)).problems).toEqual([{ at: { line: 1, column: 1 }, message: tooLong }]);
  });

  test("in depth: a use counts as a parenthesis", () => {
    const nested = (levels: number, text: string) => `${"(".repeat(levels)}${text}${")".repeat(levels)}`;
    const conditions = { "deep()": nested(30, "true") };
    expect(read(conditions, nested(33, "deep()")).problems).toEqual([]);
    expect(read(conditions, nested(34, "deep()")).problems).toEqual([
      { at: { line: 1, column: 35 }, message: tooDeep },
    ]);
    const chain = (links: number) =>
      Object.fromEntries(Array.from({ length: links }, (_, n) => [`c${n}()`, n === 0 ? "true" : `c${n - 1}()`]));
    expect(read(chain(64), "c63()").problems).toEqual([]);
    expect(read(chain(65), "c64()").problems).toEqual([{ at: { line: 1, column: 1 }, message: tooDeep }]);
    expect(problemsOf(chain(66))).toEqual([`c65() 1:1: ${tooDeep}`]);
    expect(problemsOf({ "a(x)": `${"a(".repeat(70)}x${")".repeat(70)}` })).toEqual([
      "a(x) 1:129: nested more than 64 levels deep",
    ]);
  });

  test("whatever 60 conditions double to", () => {
    const problems = problemsOf(doubling(60));
    expect(problems[0]).toBe(`a10() 1:10: ${tooLong}`);
    expect(problems[1]).toBe("a11() 1:1: a10 has problems of its own, at conditions.a10()");
    expect(problems).toHaveLength(50);
  });

  test("in problems: a wrong argument is told at 20 of its places", () => {
    const { problems } = read({ "often(x)": Array(500).fill("x = 1").join(" or ") }, "often('a') or row.ix = 1");
    expect(problems.map(({ at }) => at.written?.at.column)).toEqual([
      3,
      12,
      21,
      30,
      39,
      48,
      57,
      66,
      75,
      84,
      93,
      102,
      111,
      120,
      129,
      138,
      147,
      156,
      165,
      174,
      undefined,
    ]);
  });

  test("to 500 conditions", () => {
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`c${n}(x)`, "x = 1"]));
    expect(problemsOf(many(500))).toEqual([]);
    expect(problemsOf(many(501))).toEqual(["null: more than 500 conditions"]);
  });

  test("500 conditions in a row end with a problem, in whatever order they are written", () => {
    const links = Array.from({ length: 500 }, (_, n) => [`c${n}()`, n === 0 ? "true" : `c${n - 1}()`]);
    const forth = problemsOf(Object.fromEntries(links));
    const back = problemsOf(Object.fromEntries(links.toReversed()));
    expect(forth[0]).toBe(`c65() 1:1: ${tooDeep}`);
    expect(back).toEqual(forth);
  });
});
