import { describe, expect, test } from "vitest";
import { parseRules, type TableRulesSource } from "../../../src/project/parse-rules.js";
import { tableName } from "../../../src/sqlite/names.js";
import { rule, schema, schemaOf, table } from "./fixture.js";

const messages = tableName("messages");

type Written = Record<string, Omit<TableRulesSource, "columns"> & { columns?: Record<string, object> }>;

/** Rules as svc.toml writes them. */
function read(written: Written, of = schema) {
  const source = Object.entries(written).map(
    ([name, { columns, ...rules }]) => [name, { ...rules, columns: new Map(Object.entries(columns ?? {})) }] as const,
  );
  return parseRules({ rules: new Map(source), conditions: new Map() }, of);
}

function problemsIn(source: Written, of = schema): readonly string[] {
  return read(source, of).problems.map(({ file, path, message }) => `${file} ${path} ${message}`);
}

test("every table has its rules, and what is not written is denied", () => {
  const { rules, problems } = read({ messages: { read: "public", update: undefined } }, schema);
  const deny = { kind: "literal", value: false };
  expect(problems).toEqual([]);
  expect([...rules]).toEqual([
    [
      "messages",
      {
        read: { kind: "literal", value: true },
        create: deny,
        update: deny,
        delete: deny,
        history: deny,
        columns: new Map(),
      },
    ],
    ["members", { read: deny, create: deny, update: deny, delete: deny, history: deny, columns: new Map() }],
  ]);
});

test("rules are typed by the action that they guard", () => {
  const { rules, problems } = read(
    {
      messages: {
        read: "row.published",
        create: "new.owner_id = auth.id",
        update: "old.owner_id = auth.id and new.owner_id = row.owner_id",
        delete: "row.owner_id = auth.id",
      },
    },
    schema,
  );
  expect(problems).toEqual([]);
  expect(rules.get(messages)).toEqual({
    read: rule("row.published"),
    create: rule("new.owner_id = auth.id"),
    update: rule("old.owner_id = auth.id and new.owner_id = row.owner_id"),
    delete: rule("row.owner_id = auth.id"),
    history: { kind: "literal", value: false },
    columns: new Map(),
  });
});

test("column rules default to public", () => {
  const { rules } = read(
    { messages: { columns: { score: { read: "authenticated" }, data: { write: "auth.role = 'admin'" } } } },
    schema,
  );
  expect([...rules.get(messages)!.columns]).toEqual([
    ["score", { read: rule("authenticated"), write: null }],
    ["data", { read: rule("public"), write: rule("auth.role = 'admin'") }],
  ]);
});

test("every problem of every rule is listed with its path", () => {
  const source = {
    messages: {
      read: "row.foo = 1",
      create: "new.id =",
      columns: { score: { read: "row.published" }, secret: { read: "public" } },
    },
    rooms: { read: "public" },
  };
  expect(problemsIn(source)).toEqual([
    "svc.toml rules.rooms unknown table rooms; there are messages, members",
    "svc.toml rules.messages.read line 1, column 1 of the rule: unknown column row.foo of table messages; there are id, room_id, owner_id, score, published, data, file, public\n    row.foo = 1\n    ^",
    "svc.toml rules.messages.create line 1, column 9 of the rule: expected a condition or a value, found the end of the rule\n    new.id =\n            ^",
    "svc.toml rules.messages.columns.score.read line 1, column 1 of the rule: a column rule knows auth alone, not row\n    row.published\n    ^",
    "svc.toml rules.messages.columns.secret unknown column secret of table messages; there are id, room_id, owner_id, score, published, data, file, public",
  ]);
});

test("a rule with a problem denies", () => {
  expect(read({ messages: { read: "public or row.foo" } }, schema).rules.get(messages)!.read).toEqual({
    kind: "literal",
    value: false,
  });
});

test("names that every object has are unknown like any other", () => {
  const source = JSON.parse(`{
    "__proto__": { "read": "public" },
    "constructor": { "read": "public" },
    "messages": { "columns": { "__proto__": { "read": "deny" }, "toString": { "read": "deny" } } }
  }`) as Written;
  expect(problemsIn(source)).toEqual([
    "svc.toml rules.__proto__ unknown table __proto__; there are messages, members",
    "svc.toml rules.constructor unknown table constructor; there are messages, members",
    "svc.toml rules.messages.columns.__proto__ unknown column __proto__ of table messages; there are id, room_id, owner_id, score, published, data, file, public",
    "svc.toml rules.messages.columns.toString unknown column toString of table messages; there are id, room_id, owner_id, score, published, data, file, public",
  ]);
});

test("a table called constructor has no rules but its own", () => {
  const { rules, problems } = read({}, schemaOf([table("constructor", { id: "integer" })]));
  expect(problems).toEqual([]);
  expect(rules.get(tableName("constructor"))).toMatchObject({ read: { value: false } });
});

describe("pulled tables", () => {
  const all = { read: "public", create: "public", update: "authenticated", delete: "auth.role = 'admin'" };
  const none = { read: "public", create: "deny", update: " DENY ", delete: "false" };

  test("a virtual one can only be read", () => {
    const virtual = schemaOf([{ ...table("search", { body: "text" }), primaryKey: [], virtual: true }]);
    expect(problemsIn({ search: none }, virtual)).toEqual([]);
    expect(problemsIn({ search: all }, virtual)).toEqual([
      "svc.toml rules.search.create table search is virtual: it can only be read, so remove this rule",
      "svc.toml rules.search.update table search is virtual: it can only be read, so remove this rule",
      "svc.toml rules.search.delete table search is virtual: it can only be read, so remove this rule",
    ]);
  });

  test("one without a primary key can be read and added to", () => {
    const keyless = schemaOf([{ ...table("log", { line: "text" }), primaryKey: [] }]);
    expect(problemsIn({ log: { ...none, create: "public" } }, keyless)).toEqual([]);
    expect(problemsIn({ log: all }, keyless)).toEqual([
      "svc.toml rules.log.update table log has no primary key: it can only be read and added to. Give it a primary_key, or remove this rule",
      "svc.toml rules.log.delete table log has no primary key: it can only be read and added to. Give it a primary_key, or remove this rule",
    ]);
  });
});
