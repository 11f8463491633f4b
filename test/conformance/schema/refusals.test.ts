import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { openLibsql } from "../../../src/node/database/libsql.js";
import type { Database } from "../../../src/platform/database.js";
import { applySafe } from "../../../src/schema/apply.js";
import { loadSchemaInForce } from "../../../src/schema/in-force.js";
import { formatPlan, formatSql } from "../../../src/schema/plan/format-plan.js";
import { noBase, planChange, sha256Hex } from "../../../src/schema/plan/plan.js";
import { client, expectRefusal } from "../../support/client.js";
import { apiKey, serve } from "../../support/server.js";
import { applied, apply, emptyDatabase, rows, run, value } from "./support.js";

const base = `
people:
  columns:
    id: { type: integer, primary_key: true }
    name: { type: text }
    age: { type: text }
    boss_id: { type: integer }
`;

let database: Database;

beforeEach(async () => {
  database = emptyDatabase();
  await applied(database, base);
  await run(
    database,
    "INSERT INTO people VALUES (1, 'Ann', '40', NULL), (2, 'Bob', 'forty', 1), (3, 'Bob', NULL, 9), (4, NULL, '041', 8)",
  );
});

async function hazards(text: string) {
  const planned = await planChange(database, text);
  if (planned.outcome !== "planned") throw new Error(JSON.stringify(planned));
  return planned.plan.steps.flatMap((step) => step.hazards);
}

/** Nothing is lost and nothing is in force but the first schema. */
async function untouched() {
  expect(await value(database, "SELECT count(*) FROM people")).toBe(4);
  expect(await value(database, "SELECT max(version) FROM _schema")).toBe(1);
  expect(await value(database, "SELECT count(*) FROM sqlite_master WHERE name LIKE '%rebuild%'")).toBe(0);
}

describe("a constraint that rows break is refused with their number, with a person's word too", () => {
  const cases: [string, string, string, string, number][] = [
    [
      "not null",
      "name: { type: text }",
      "name: { type: text, not_null: true }",
      "people.name would be NULL in rows that are there",
      1,
    ],
    [
      "unique",
      "name: { type: text }",
      "name: { type: text, unique: true }",
      "rows of people are not unique in (name)",
      1,
    ],
    [
      "check",
      "name: { type: text }",
      'name: { type: text, check: "length(name) > 3" }',
      "rows break the check of people.name: length(name) > 3",
      3,
    ],
    [
      "a reference",
      "boss_id: { type: integer }",
      "boss_id: { type: integer, references: { table: people } }",
      "rows of people.boss_id refer to no row of people",
      2,
    ],
    [
      "not null without a default",
      "    boss_id",
      "    mail: { type: text, not_null: true }\n    boss_id",
      "people.mail may not be NULL and has no default for the rows that are there",
      4,
    ],
    [
      "a default that the check of a new column refuses",
      "    boss_id",
      '    rank: { type: integer, default: 0, check: "rank > 0" }\n    boss_id',
      "rows break the check of people.rank: rank > 0",
      4,
    ],
    [
      "a type to which values of a not null column do not convert",
      "id: { type: integer, primary_key: true }\n    name: { type: text }\n    age: { type: text }",
      "id: { type: boolean, primary_key: true }\n    name: { type: text }\n    age: { type: text }",
      "people.id has values that do not convert to boolean and may not be NULL",
      3,
    ],
  ];
  it.each(cases)("%s", async (_, from, to, reason, count) => {
    const text = base.replace(from, to);
    expect(text).not.toBe(base);
    expect(await hazards(text)).toContainEqual({ effect: "impossible", reason, count });
    for (const allowDestructive of [false, true]) {
      const outcome = await apply(database, text, { allowDestructive });
      expect(outcome).toMatchObject({
        outcome: "refused",
        reason: "constraint",
        message: `${reason} (${count})`,
      });
    }
    await untouched();
  });

  it("is safe where no row breaks it", async () => {
    await run(database, "DELETE FROM people WHERE id > 1");
    for (const [, from, to, , count] of cases.slice(0, 4)) {
      const text = base.replace(from, to);
      if (count !== 3) expect(await hazards(text)).toEqual([]);
    }
  });
});

describe("what loses something waits for a person, with a count", () => {
  const cases: [string, string, string, string, number | null, string, unknown][] = [
    [
      "a table dropped",
      base,
      "others:\n  columns:\n    id: { type: integer, primary_key: true }\n",
      "table people is dropped with its rows",
      4,
      "SELECT count(*) FROM sqlite_master WHERE name = 'people'",
      0,
    ],
    [
      "a column dropped",
      "    age: { type: text }\n",
      "",
      "people.age is dropped with its values",
      3,
      "SELECT count(*) FROM people",
      4,
    ],
    [
      "a type narrowed",
      "age: { type: text }",
      "age: { type: integer }",
      "people.age narrows from text to integer; values that do not convert become NULL",
      2,
      "SELECT sum(age) FROM people",
      40,
    ],
    [
      "a key changed",
      "id: { type: integer, primary_key: true }",
      'id: { type: integer }\n    nick: { type: text, primary_key: true, default: { sql: "hex(randomblob(8))" } }',
      "the primary key of people changes from (id) to (nick)",
      null,
      "SELECT count(DISTINCT nick) FROM people",
      4,
    ],
  ];
  it.each(cases)("%s", async (_, from, to, reason, count, query, result) => {
    const text = base.replace(from, to);
    const refused = await apply(database, text);
    expect(refused).toMatchObject({ outcome: "refused", reason: "destructive" });
    expect(await hazards(text)).toContainEqual({ effect: "destructive", reason, count });
    await untouched();
    expect(await applySafe(database, text, { now: 1 })).toEqual(refused);
    await untouched();
    await applied(database, text, { allowDestructive: true });
    expect(await value(database, query)).toBe(result);
  });
});

describe("values keep their meaning in a wider type", () => {
  it.each([
    ["integer", "text", [["1"], ["9007199254740993"], ["-5"]]],
    ["integer", "json", [["1"], ["9007199254740993"], ["-5"]]],
  ])("%s to %s", async (from, to, expected) => {
    await applied(
      database,
      `${base}numbers:\n  columns:\n    id: { type: integer, primary_key: true }\n    n: { type: ${from} }\n`,
    );
    await run(database, "INSERT INTO numbers (n) VALUES (1), (9007199254740993), (-5)");
    await applied(
      database,
      `${base}numbers:\n  columns:\n    id: { type: integer, primary_key: true }\n    n: { type: ${to} }\n`,
    );
    expect(await rows(database, "SELECT n FROM numbers ORDER BY id")).toEqual(expected);
  });

  it("real to text gives the shortest text that is the same number", async () => {
    const table = (type: string) =>
      `${base}numbers:\n  columns:\n    id: { type: integer, primary_key: true }\n    n: { type: ${type} }\n`;
    await applied(database, table("real"));
    await run(database, "INSERT INTO numbers (n) VALUES (0.1), (0.1 + 0.2), (1e300), (2)");
    await applied(database, table("text"));
    const texts = await rows(database, "SELECT n FROM numbers ORDER BY id");
    expect(texts.map(([text]) => Number(text))).toEqual([0.1, 0.1 + 0.2, 1e300, 2]);
    expect(texts[0]).toEqual(["0.1"]);
  });

  it("integer to real waits where digits would be rounded", async () => {
    const table = (type: string) =>
      `${base}numbers:\n  columns:\n    id: { type: integer, primary_key: true }\n    n: { type: ${type} }\n`;
    await applied(database, table("integer"));
    await run(database, "INSERT INTO numbers (n) VALUES (1), (9007199254740993)");
    expect(await apply(database, table("real"))).toMatchObject({ outcome: "refused", reason: "destructive" });
    expect(await hazards(table("real"))).toEqual([
      { effect: "destructive", reason: "numbers.n has values that real rounds", count: 1 },
    ]);
    await run(database, "DELETE FROM numbers WHERE id = 2");
    await applied(database, table("real"));
  });
});

describe("the schema in force", () => {
  const wider = base.replace("age: { type: text }", "age: { type: text }\n    mail: { type: text }");

  it("is the text with its hash, and the same text changes nothing", async () => {
    const inForce = await loadSchemaInForce(database);
    expect(inForce).toMatchObject({ version: 1, hash: await sha256Hex(base), text: base });
    expect(await apply(database, base)).toEqual({
      outcome: "unchanged",
      version: 1,
      hash: await sha256Hex(base),
    });
    expect(await value(database, "SELECT count(*) FROM _schema")).toBe(1);
  });

  it("takes a text that changes no table as a new version", async () => {
    const text = `# a comment\n${base}$auth: { registration: closed }\n`;
    expect(await applied(database, text)).toMatchObject({ version: 2, steps: [] });
    expect((await loadSchemaInForce(database))?.schema.auth.registration).toBe("closed");
  });

  it("is what a change starts from, or the change is refused", async () => {
    expect(await apply(database, wider, { base: "0".repeat(64) })).toEqual({
      outcome: "refused",
      reason: "base_moved",
      inForce: await sha256Hex(base),
    });
    expect(await apply(database, wider, { base: noBase })).toMatchObject({ reason: "base_moved" });
    await untouched();
    expect(await applied(database, wider, { base: await sha256Hex(base) })).toMatchObject({ version: 2 });
  });

  it("moves once when two connections apply at the same time", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "svc-")), "data.db");
    const [one, two] = [0, 1].map((): Database => openLibsql({ path, synchronous: "normal" })) as [Database, Database];
    await applied(one, base);
    const texts = ["mail", "phone", "street", "town"].map((name) =>
      base.replace("    age", `    ${name}: { type: text }\n    age`),
    );
    const outcomes = await Promise.all(texts.map((text, at) => apply(at % 2 === 0 ? one : two, text)));
    const won = outcomes.filter(({ outcome }) => outcome === "applied");
    expect(won).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.outcome !== "applied") expect(outcome).toMatchObject({ outcome: "refused", reason: "base_moved" });
    expect(await rows(one, "SELECT version FROM _schema ORDER BY version")).toEqual([[1], [2]]);
    expect(await value(two, "SELECT count(*) FROM pragma_table_info('people')")).toBe(5);
  });

  it("stays when the rules do not fit, or the file is wrong", async () => {
    const problems = [{ file: "svc.toml", path: "rules.people.read", message: "unknown column age" }];
    expect(await apply(database, wider, { fits: () => problems })).toEqual({
      outcome: "refused",
      reason: "rules_do_not_fit",
      problems,
    });
    expect(await apply(database, "people: 5\n")).toMatchObject({ outcome: "refused", reason: "invalid" });
    await untouched();
  });

  it("is null for a database without one", async () => {
    const empty = emptyDatabase();
    expect(await loadSchemaInForce(empty)).toBe(null);
    await run(empty, "CREATE TABLE _cf_KV (key TEXT)", "CREATE TABLE other (a)");
    expect(await loadSchemaInForce(empty)).toBe(null);
    await applied(empty, base);
    expect([...(await loadSchemaInForce(empty))!.catalog.tables.keys()]).toEqual(["other", "people"]);
  });
});

it("a plan reads as lines and as SQL, with the base first and every reason against it", async () => {
  const text = base
    .replace("    age: { type: text }\n", "")
    .replace("name: { type: text }", "name: { type: text, unique: true }");
  const planned = await planChange(database, text);
  if (planned.outcome !== "planned") throw new Error(JSON.stringify(planned));
  expect(formatPlan(planned.plan)).toBe(`base: ${await sha256Hex(base)}
2 steps, 1 need --allow-destructive, 1 cannot be done

drop column people.age
  DESTRUCTIVE: people.age is dropped with its values (3)
create index unique people(name)
  IMPOSSIBLE: rows of people are not unique in (name) (1)
`);
  expect(formatSql(planned.plan)).toBe(`-- base: ${await sha256Hex(base)}
-- 2 steps, 1 need --allow-destructive, 1 cannot be done

-- drop column people.age
--   DESTRUCTIVE: people.age is dropped with its values (3)
ALTER TABLE "people" DROP COLUMN "age";

-- create index unique people(name)
--   IMPOSSIBLE: rows of people are not unique in (name) (1)
CREATE UNIQUE INDEX "unique people(name)" ON "people" ("name");
`);
});

it("a plan shows the steps that the file asks for, and what only follows from them as one line", async () => {
  const kept = `$history: forever\n${base.replace("    name:", "    version: { type: integer, managed: version }\n    name:")}  search: [name]\n  indexes: [{ columns: [name] }]\n`;
  await applied(database, kept);
  const changed = kept
    .replace("    name: {", "    called: { renamed_from: name,")
    .replaceAll("[name]", "[called]")
    .replace("    age:", "    mail: { type: text }\n    age:");
  const planned = await planChange(database, changed);
  if (planned.outcome !== "planned") throw new Error(JSON.stringify(planned));
  const own = planned.plan.steps.filter((step) => step.own).length;
  expect(formatPlan(planned.plan)).toBe(`base: ${await sha256Hex(kept)}
2 steps, all safe

add column people.mail
rename column people.name to called
the server's own triggers and indexes follow (${own} steps, see --sql)
`);
  expect(formatSql(planned.plan)).toContain('DROP TRIGGER "_svc_log_people_insert";');
});

describe("SQL that the owner writes stays an expression over one row", () => {
  const hostile: [string, string][] = [
    ["age > 0); DROP TABLE people; --", "one SQL expression, without a semicolon"],
    ["age > 0 -- ", "comments are not allowed in SQL expressions"],
    ["1); DROP TABLE people", "one SQL expression, without a semicolon"],
    ["1) OR (1", "a parenthesis is closed that was not opened"],
    ["(1", "a parenthesis is not closed"],
    ["1 /* x */", "comments are not allowed in SQL expressions"],
    ["readfile('/etc/passwd') is null", "unknown function readfile"],
    ["\"readfile\"('/etc/passwd') is null", 'unknown function "readfile"'],
    ["writefile('/tmp/x', 'y')", "unknown function writefile"],
    ["load_extension('x')", "unknown function load_extension"],
    ["(select 1)", "SELECT is not allowed in SQL expressions"],
    ["exists (values (1))", "EXISTS is not allowed in SQL expressions"],
    ["name in _users", "IN takes a list in parentheses"],
    ["name in '_users'", "IN takes a list in parentheses"],
    ["name = ?", "parameters are not allowed in SQL expressions: ?"],
    ["name = :x", "parameters are not allowed in SQL expressions: :x"],
    ["name = 'open", 'not SQL: "\'"'],
    ["people.name = 'x'", "unknown column people"],
    ["nope = 1", "unknown column nope"],
    ['name = "x"', 'unknown column "x"'],
    ["name collate nope = 'x'", "unknown collation nope"],
    ["", "expected an SQL expression"],
  ];
  it.each(hostile)("%s", async (sql, message) => {
    const quoted = JSON.stringify(sql);
    for (const [text, path] of [
      [base.replace("name: { type: text }", `name: { type: text, check: ${quoted} }`), "people.columns.name.check"],
      [`${base}  indexes: [{ columns: [name], where: ${quoted} }]\n`, "people.indexes.0.where"],
    ] as const)
      expect(await apply(database, text, { allowDestructive: true })).toEqual({
        outcome: "refused",
        reason: "invalid",
        problems: [{ file: "svc.schema.yaml", path, message }],
      });
    await untouched();
  });

  it("a default names no column", async () => {
    const text = base.replace("name: { type: text }", 'name: { type: text, default: { sql: "age" } }');
    expect(await apply(database, text)).toMatchObject({
      reason: "invalid",
      problems: [{ message: "unknown column age" }],
    });
  });

  it("what SQLite alone finds wrong is a refusal too", async () => {
    const aggregate = base.replace("name: { type: text }", 'name: { type: text, check: "max(name) > 1" }');
    expect(await apply(database, aggregate)).toMatchObject({
      reason: "invalid",
      problems: [{ path: "people.columns.name.check", message: "misuse of aggregate function max()" }],
    });
    const call = base.replace("age: { type: text }", 'age: { type: text, default: { sql: "substr(1)" } }');
    expect(await apply(database, call)).toMatchObject({
      reason: "invalid",
      problems: [{ path: "people.columns.age.default", message: "wrong number of arguments to function substr()" }],
    });
    const random = base.replace("name: { type: text }", 'name: { type: text, check: "random() > name" }');
    expect(await apply(database, random)).toMatchObject({ outcome: "refused", reason: "constraint" });
    await untouched();
  });
});

it("over HTTP, the answer names a hundred problems and how many more there are", async () => {
  const server = await serve({ schema: base });
  const key = client(server, await apiKey(server, "project:backend"));
  const body = `${base}${Array.from({ length: 250 }, (_, i) => `  unknown${i}: 1`).join("\n")}`;
  const headers = { "Content-Type": "application/yaml" };
  for (const path of ["plan", "apply"]) {
    const answer = await key.send("POST", `/admin/api/schema/${path}`, { body, headers });
    expectRefusal(answer, 400, "bad_request");
    const { message } = (answer.body as { error: { message: string } }).error;
    const lines = message.split("\n");
    expect(lines).toHaveLength(101);
    expect(lines[0]).toMatch(/^svc\.schema\.yaml:8: people\.unknown0: /);
    expect(lines.at(-1)).toBe("and 150 more problems");
  }
});

it("over HTTP, a schema without a way to the rows of a table is not applied under api.require_ways", async () => {
  const schema = (indexes: string) =>
    `notes: { columns: { id: { type: integer, primary_key: true }, owner: { type: text } }${indexes} }`;
  const config = '[api]\nrequire_ways = true\n[rules.notes]\nread = "row.owner = auth.id"';
  const server = await serve({ schema: schema(", indexes: [{ columns: [owner] }]"), config });
  const key = client(server, await apiKey(server, "project:backend"));
  const init = { body: schema(""), headers: { "Content-Type": "application/yaml" } };
  const refused = await key.send("POST", "/admin/api/schema/apply?allow_destructive=true", init);
  expect(expectRefusal(refused, 400, "bad_request")).toBe(
    "svc.toml: rules.notes.read: api.require_ways: lists of notes have no way to the rows that a user may read; an index on notes (owner) would",
  );
  expect((await key.get("/api/notes")).status).toBe(200);
});
