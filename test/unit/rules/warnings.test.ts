import { beforeAll, describe, expect, test } from "vitest";
import { openLibsql } from "../../../src/node/database/libsql.js";
import { comparisonWarnings } from "../../../src/project/comparison-warnings.js";
import { parseRules } from "../../../src/project/parse-rules.js";
import { parseSchema } from "../../../src/project/parse-schema.js";
import { applySafe } from "../../../src/schema/apply.js";
import { type Catalog, loadCatalog } from "../../../src/schema/catalog.js";
import { unservedExists } from "../../../src/tables/plan/unserved-exists.js";

const schemaText = `
notes: { columns: { id: { type: integer, primary_key: true }, team: { type: text } } }
members:
  primary_key: [team, user]
  columns: { team: { type: text }, user: { type: text }, role: { type: text } }
  indexes: [{ columns: [role], where: "role is not null" }]
`;
const { schema } = parseSchema(schemaText);
let catalog: Catalog;

beforeAll(async () => {
  const database = openLibsql({ path: ":memory:", synchronous: "normal" });
  await applySafe(database, schemaText, { now: 0 });
  catalog = await loadCatalog(database);
  await database.close();
});

function warnings(read: string): readonly string[] {
  const { rules, problems } = parseRules({ rules: new Map([["notes", { read }]]), conditions: new Map() }, schema!);
  expect(problems).toEqual([]);
  return unservedExists(rules, catalog).map(({ path, message }) => `${path}: ${message}`);
}

test("an exists that an index begins to serve is no warning", () => {
  expect(warnings("exists(members m where m.team = row.team and m.role = 'owner')")).toEqual([]);
  expect(warnings("exists($users u where u.id = auth.id)")).toEqual([]);
  expect(warnings("exists(members m where m.team in (row.team, 'a') and m.role = 'owner')")).toEqual([]);
  expect(warnings("exists(members m where m.team > row.team)")).toEqual([]);
  expect(warnings("exists(members m where m.team = row.team or m.team is null)")).toEqual([]);
});

test.each([
  ["exists(members m where m.user = auth.id)", "add indexes: [{ columns: [user] }] to members"],
  [
    "exists(members m where m.role = 'owner' and m.user = auth.id)",
    "add indexes: [{ columns: [role, user] }] to members",
  ],
  ["not exists(members m where m.user > row.team)", "compare one of its columns with =, and index that"],
  ["exists(members m where m.team = m.user)", "compare one of its columns with =, and index that"],
  ["exists(members m where m.team = row.team or m.role = 'a')", "compare one of its columns with =, and index that"],
])("%s is one", (rule, remedy) => {
  expect(warnings(rule)).toEqual([
    `rules.notes.read: no index serves exists(members m …): it reads all of members for each row; ${remedy}`,
  ]);
});

test("what counts is the rule as statements have it", () => {
  expect(warnings("exists(members m where not (m.team != row.team))")).toEqual([]);
  expect(warnings("auth.role = 'admin' and exists(members m where m.user = auth.id)")).toHaveLength(1);
  expect(warnings("exists(members m where auth.role = 'admin' or m.team = row.team)")).toEqual([]);
  expect(warnings("auth.role = 'editor' and exists(members m where m.user = auth.id)")).toEqual([]);
});

test("so is a user that is looked for by role", () => {
  expect(warnings("exists($users u where u.role = 'admin')")).toEqual([
    "rules.notes.read: no index serves exists($users u …): it reads all of $users for each row; look the user up by id",
  ]);
});

describe("comparisons that decide nothing", () => {
  const compared = (read: string) => {
    const { rules, problems } = parseRules({ rules: new Map([["notes", { read }]]), conditions: new Map() }, schema!);
    expect(problems).toEqual([]);
    return comparisonWarnings(rules).map(({ path, message }) => `${path}: ${message}`);
  };

  test.each([
    ["row.team = null", "row.team = null is never TRUE: write row.team is null"],
    ["not (null != row.team)", "null != row.team is never TRUE: write row.team is not null"],
    ["row.id >= null", "row.id >= null is never TRUE: compare it with a value"],
    ["row.team in ('a', null)", "null in a list equals nothing: write row.team is null beside the list"],
    ["auth.role = 'editor'", "auth.role is 'user' or 'admin', never 'editor'"],
    ["'Admin' != auth.role", "auth.role is 'user' or 'admin', never 'Admin'; did you mean admin?"],
    ["auth.role in ('admin', 'editor')", "auth.role is 'user' or 'admin', never 'editor'"],
    ["exists($users u where u.id = auth.id and u.role = 'owner')", "u.role is 'user' or 'admin', never 'owner'"],
    [
      "exists(members m where m.team = row.team and m.user = null)",
      "m.user = null is never TRUE: write m.user is null",
    ],
  ])("%s is told", (rule, message) => {
    expect(compared(rule)).toEqual([`rules.notes.read: ${message}`]);
  });

  test.each([
    "row.team is null and auth.role in ('admin', 'user') and auth.role != 'user'",
    "exists(members m where m.team = row.team and m.role = 'owner')",
    "auth.role is null or auth.role = row.team",
  ])("%s is none", (rule) => {
    expect(compared(rule)).toEqual([]);
  });

  test("in rules of columns too", () => {
    const columns = new Map([["team", { write: "auth.role = 'editor'" }]]);
    const { rules } = parseRules({ rules: new Map([["notes", { columns }]]), conditions: new Map() }, schema!);
    expect(comparisonWarnings(rules).map(({ path }) => path)).toEqual(["rules.notes.columns.team.write"]);
  });
});
