import { expect, test } from "vitest";
import { parseRules } from "../../../src/project/rules/rules.js";
import { ruleWarnings } from "../../../src/project/rules/warnings.js";
import { parseSchema } from "../../../src/project/schema.js";

const { schema } = parseSchema(`
notes: { columns: { id: { type: integer, primary_key: true }, team: { type: text } } }
members:
  primary_key: [team, user]
  columns: { team: { type: text }, user: { type: text }, role: { type: text } }
  indexes: [{ columns: [role], where: "role is not null" }]
`);

function warnings(read: string): readonly string[] {
  const { rules, problems } = parseRules(new Map([["notes", { read }]]), schema!);
  expect(problems).toEqual([]);
  return ruleWarnings(rules, schema!).map(({ path, message }) => `${path}: ${message}`);
}

test("an exists that an index begins to serve is no warning", () => {
  expect(warnings("exists(members m where m.team = row.team and m.role = 'owner')")).toEqual([]);
  expect(warnings("exists($users u where u.id = auth.id)")).toEqual([]);
});

test.each([
  ["exists(members m where m.user = auth.id)", "add indexes: [{ columns: [user] }] to members"],
  [
    "exists(members m where m.role = 'owner' and m.user = auth.id)",
    "add indexes: [{ columns: [role, user] }] to members",
  ],
  ["not exists(members m where m.team > row.team)", "compare one of its columns with =, and index that"],
])("%s is one", (rule, remedy) => {
  expect(warnings(rule)).toEqual([
    `rules.notes.read: no index serves exists(members m …): it reads all of members for each row; ${remedy}`,
  ]);
});

test("so is a user that is looked for by role", () => {
  expect(warnings("exists($users u where u.role = 'admin')")).toEqual([
    "rules.notes.read: no index serves exists($users u …): it reads all of $users for each row; look the user up by id",
  ]);
});
