import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { svc } from "./svc.js";

const schema = `
$operations:
  close:
    params: { id: integer }
    allow: "exists(tasks t where t.id = params.id and t.owner = auth.id)"
    steps: [{ sql: "update tasks set state = 'closed' where id = :id", expect: 1 }]
tasks:
  history: 30d
  columns:
    id: { type: integer, primary_key: true }
    owner: { type: text, references: { table: $users } }
    by: { type: text, managed: created_by }
    state: { type: text, not_null: true, default: open }
    secret: { type: text }
members:
  primary_key: [task, who]
  columns:
    task: { type: integer, references: { table: tasks } }
    who: { type: text, references: { table: $users } }
    until: { type: integer }
`;
const config = `
[conditions]
"joins(task)" = "exists(members m where m.task = task and m.who = auth.id and m.until > 100)"
[rules.tasks]
read = "row.owner = auth.id or joins(row.id)"
create = "new.owner = auth.id"
update = "row.owner = auth.id and new.state != 'closed'"
delete = "row.by = auth.id"
history = "row.owner = auth.id"
[rules.tasks.columns.secret]
read = "auth.role = 'admin'"
write = "auth.role = 'admin'"
[rules.members]
read = "row.who = auth.id"
`;
const fixtures = `
users: { ada: , ben: , cy: { disabled: true }, root: { role: admin } }
rows:
  members: [{ task: 1, who: ben, until: 101 }, { task: 2, who: ben, until: 100 }]
  tasks: [{ id: 1, owner: ada, by: ben, secret: s }, { id: 2, owner: ada }, { id: 3, owner: cy }]
`;

/** What `svc test` says of these cases. */
function tested(cases: readonly string[], { args = [] as readonly string[], rules = config, more = "" } = {}) {
  const directory = mkdtempSync(join(tmpdir(), "svc-test-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, "svc.schema.yaml"), schema);
  writeFileSync(join(directory, "svc.toml"), rules);
  const text = `${fixtures}${more}\ncases:\n${cases.map((each) => `  - { ${each} }\n`).join("")}`;
  const lineOf = (i: number) => text.split("\n").indexOf(`  - { ${cases[i]} }`) + 1;
  writeFileSync(join(directory, "rules.test.yaml"), text);
  const outcome = svc(["test", "--dir", directory, ...args]);
  return { ...outcome, stdout: outcome.stdout.replaceAll(directory, ""), lineOf };
}

/** They decide every term. */
const whole = [
  "as: ada, do: { list: tasks }, sees: [1, 2]",
  "as: ben, do: { list: tasks }, sees: [1]",
  "as: root, do: { list: tasks }, sees: []",
  "as: cy, do: { list: tasks }, deny: unauthorized",
  "as: anonymous, do: { list: tasks }, deny: true",
  "as: ben, do: { read: tasks, key: 2 }, deny: forbidden",
  "as: ben, do: { read: tasks, key: { id: 1 } }, allow: { columns: [id, owner, by, state] }",
  "as: ada, do: { create: tasks, values: { owner: ada } }, allow: true",
  "as: ada, do: { create: tasks, values: { owner: ben } }, deny: true",
  "as: ada, do: { create: tasks, values: { owner: ada, secret: x } }, deny: { code: forbidden, columns: [secret] }",
  "as: root, do: { create: tasks, values: { owner: root, secret: x } }, allow: { columns: [id, owner, by, state, secret] }",
  "as: ada, do: { update: tasks, key: 1, set: { state: done } }, allow: true",
  "as: ada, do: { update: tasks, key: 1, set: { state: closed } }, deny: true",
  "as: ben, do: { update: tasks, key: 1, set: { state: done } }, deny: true",
  "as: ben, do: { delete: tasks, key: 1 }, deny: conflict",
  "as: ada, do: { delete: tasks, key: 1 }, deny: true",
  "as: ada, do: { history: tasks }, sees: [1, 2]",
  "as: ben, do: { history: tasks, key: 1 }, sees: []",
  "as: ada, do: { op: close, params: { id: 1 } }, allow: true",
  "as: ben, do: { op: close, params: { id: 1 } }, deny: true",
  "as: ada, do: { op: close, params: { id: 3 } }, deny: true",
  "as: ben, do: { list: members, query: { sort: [task], limit: 1 } }, sees: [{ task: 1, who: ben }]",
  "as: ben, do: { read: members, key: { task: 2, who: ben } }, allow: true",
  "as: ada, do: { list: members }, sees: []",
];

describe("svc test", () => {
  it("passes where all comes as the cases say, whatever earlier ones have written", () => {
    const { status, stdout } = tested([...whole, ...whole]);
    expect(stdout).toMatch(/^48 of 48 cases passed, in \d+ ms\n$/);
    expect(status).toBe(0);
  });

  it("notices every change of the rules with these cases", () => {
    const { status, stdout } = tested(whole, { args: ["--mutate", "--min", "100"] });
    expect(stdout).toMatch(/\n(\d+) of \1 changes of the rules noticed \(100 %\), in \d+ ms\n$/);
    expect(status).toBe(0);
  });

  it("names a failing case by its line, and what each term of the rule says", () => {
    const { status, stdout, lineOf } = tested([
      whole[0]!,
      "name: Ben closes, as: ben, do: { update: tasks, key: 1, set: { state: done } }, allow: true",
      "as: ben, do: { list: tasks }, sees: [2]",
      "as: ben, do: { op: close, params: { id: 1 } }, allow: true",
    ]);
    expect(status).toBe(1);
    expect(stdout).toContain(
      `rules.test.yaml:${lineOf(1)}: Ben closes: expected allow, refused: 403 forbidden by rules.tasks.update`,
    );
    expect(stdout).toContain("  rules.tasks.update (svc.toml, line 7)\n    ✗ before 7:11  row.owner = auth.id\n");
    expect(stdout).toContain("    ✓ after 7:35  new.state != 'closed'\n");
    expect(stdout).toContain(`rules.test.yaml:${lineOf(2)}: as ben: expected sees [2], does not see 2; sees 1, too`);
    expect(stdout).toContain(
      `rules.test.yaml:${lineOf(3)}: as ben: expected allow, refused: 403 forbidden by $operations.close.allow`,
    );
    expect(stdout).toContain("1 of 4 cases passed");
    expect(stdout).not.toContain("no case decides");
  });

  it.each([
    ["as: ada, do: { read: tasks, key: 9 }, deny: true", "refused: 404 not_found"],
    ["as: ada, do: { create: tasks, values: { owner: ada, state: null } }, deny: true", "refused: 400 bad_request"],
    ["as: ben, do: { delete: tasks, key: 1 }, deny: true", "refused: 409 conflict"],
    ["as: ada, do: { read: tasks, key: 1 }, deny: true", "allowed: 200"],
    [
      "as: ada, do: { read: tasks, key: 1 }, allow: { columns: [id] }",
      "the answer has the columns by, id, owner, state",
    ],
    ["as: ada, do: { create: tasks, values: { secret: x } }, deny: { columns: [owner] }", "columns secret"],
  ])("does not take for a refusal by rules what is none: %s", (one, found) => {
    const { status, stdout } = tested([one]);
    expect(stdout).toContain(found);
    expect(status).toBe(1);
  });

  it("lists the terms that no case decides, and those that could be changed", () => {
    const undecided = tested(whole.filter((each) => !each.includes("history")));
    expect(undecided.stdout).toContain("svc.toml:9:12  rules.tasks.history: row.owner = auth.id\n");
    const bound = whole.filter((each) => !each.startsWith("as: ben, do: { list: tasks") && !each.includes("key: 2 }"));
    const survived = tested(bound, { args: ["--mutate", "--min", "99.5"] });
    expect(survived.stdout).toContain("svc.toml:3:79  conditions.joins(task): m.until > 100 could be weakened");
    expect(survived.status).toBe(1);
    expect(tested(bound, { args: ["--mutate", "--min", "50"] }).status).toBe(0);
  });

  it("does not report a change that admits the same", () => {
    const rules = config.replace(
      'read = "row.owner = auth.id or joins(row.id)"',
      'read = "auth.id is not null and (row.owner = auth.id or joins(row.id))"',
    );
    const { stdout } = tested(whole, { args: ["--mutate"], rules });
    expect(stdout).not.toContain("auth.id is not null could be dropped");
    expect(stdout).toContain("(100 %)");
  });

  it("says what is wrong with a file by its line, with exit code 2", () => {
    const wrong = (cases: readonly string[], more = "") => {
      const { status, stderr } = tested(cases, { more });
      expect(status).toBe(2);
      return stderr;
    };
    expect(wrong(["as: eve, do: { list: tasks }, sees: []"])).toMatch(
      /rules\.test\.yaml:8: cases\.0\.as: expected anonymous or one of users, not eve/,
    );
    expect(wrong(["as: ada, do: { list: taks }, sees: []"])).toContain("rules.test.yaml:8: there is no table taks");
    expect(wrong(["as: ada, do: { read: members, key: 1 }, allow: true"])).toContain("expected a map of task and who");
    expect(wrong(["as: ada, do: { read: tasks }, allow: true"])).toContain("cases.0.do: read needs key");
    expect(wrong(["as: ada, do: { list: tasks, key: 1 }, allow: true"])).toContain("cases.0.do.key: list takes no key");
    expect(wrong(["as: ada, do: { list: tasks }, allow: true, deny: true"])).toContain(
      "expected one of allow, deny and sees",
    );
    expect(wrong(["as: ada, do: { read: tasks, key: 1 }, sees: [1]"])).toContain(
      "only a list or a history shows several rows",
    );
    expect(wrong(["as: ada, do: { list: tasks }, allows: true"])).toContain("unknown key; did you mean allow?");
    const refused = wrong([whole[0]!], "  other: [{ id: 1 }]\n");
    expect(refused).toContain("there is no table other");
    const dangling = tested([whole[0]!], { more: "" });
    expect(dangling.status).toBe(0);
  });

  it("refuses fixtures that the database refuses", () => {
    const directory = mkdtempSync(join(tmpdir(), "svc-test-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    writeFileSync(join(directory, "svc.schema.yaml"), schema);
    writeFileSync(join(directory, "svc.toml"), config);
    expect(svc(["test", "--dir", directory])).toMatchObject({ status: 2 });
    const file = join(directory, "x.test.yaml");
    const one = "cases: [{ as: anonymous, do: { list: tasks }, deny: true }]\n";
    writeFileSync(file, "rows: {}\n");
    expect(svc(["test", "--dir", directory])).toMatchObject({ status: 2, stderr: expect.stringContaining("no cases") });
    writeFileSync(file, `rows:\n  members:\n    - { task: 7, who: ada }\nusers: { ada: }\n${one}`);
    expect(svc(["test", "--dir", directory]).stderr).toContain(
      "x.test.yaml:3: members: a column refers to a row that is not there",
    );
    writeFileSync(file, `rows:\n  tasks:\n    - { id: x }\n${one}`);
    expect(svc(["test", "--dir", directory]).stderr).toContain("x.test.yaml:3: tasks: id: expected");
    expect(svc(["test", "no-such-file.yaml", "--dir", directory])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("there is no /"),
    });
  });
});
