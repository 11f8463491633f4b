import { describe, expect, it } from "vitest";
import type { NamedOperation } from "../../../src/project/model.js";
import { parseSchema } from "../../../src/project/parse-schema.js";
import { applyChange } from "../../../src/schema/apply.js";
import { proveOperations } from "../../../src/schema/prove-operations.js";
import { proveSql } from "../../../src/sqlite/proof.js";
import { tokenize } from "../../../src/sqlite/sql-tokens.js";
import { client, dataOf, expectRefusal } from "../../support/client.js";
import { rowsOf, run } from "../../support/people.js";
import { apiKey } from "../../support/server.js";
import { accountsSchema, serveAccounts } from "./accounts.js";

const { schema } = parseSchema(accountsSchema);

/** An operation with one step that the lexer has let through, whatever it is. */
function slippedThrough(sql: string): NamedOperation {
  const statement = { ...proveSql("select 1 from accounts", everything).proved!, sql, tokens: tokenize(sql) };
  const step = { statement, expect: 1, otherwise: "conflict", message: null, returns: null, columns: [] } as const;
  return { name: "slipped", params: new Map(), allow: null, steps: [step] };
}

const everything = {
  tables: new Set(["accounts"]),
  others: new Set<string>(),
  parameters: new Set<string>(),
};

describe("what the database says of a step", () => {
  it("holds also where its text was not understood", async () => {
    const { server } = await serveAccounts();
    const problemsOf = async (sql: string) => {
      const operations = new Map([["slipped", slippedThrough(sql)]]);
      const proofs = await proveOperations(server.database, { tables: schema!.tables, operations });
      return proofs
        .get("slipped")!
        .problems.map(({ message }) => message)
        .filter((message) => message.startsWith("it would") || message.startsWith("the database"));
    };
    expect(await problemsOf("select id from accounts")).toEqual([]);
    expect(await problemsOf("select id from _users")).toEqual(["it would open _users, which it does not name"]);
    expect(await problemsOf("select name from sqlite_master")).toHaveLength(1);
    expect(await problemsOf("select id from entries")).toEqual(["it would open entries, which it does not name"]);
    expect(await problemsOf("select value from json_each('[]')")).toHaveLength(1);
    expect(await problemsOf("update accounts set cents = 0")).toContain("it would write, although it is a SELECT");
    expect(await problemsOf("select missing from accounts")).toEqual([
      expect.stringMatching(/^the database refuses it: .*no such column: missing/),
    ]);
  });

  it("tells steps that look up single rows from those that walk over many", async () => {
    const { server } = await serveAccounts(`
  walk:
    steps: [{ sql: "update accounts set note = 'x'" }]
  look:
    steps: [{ sql: "select note from accounts where id = 'a1'", returns: one }]
  recur:
    steps: [{ sql: "with recursive c(i) as (select 1 union all select i + 1 from c limit 9) select i from c", expect: 9 }]
  add:
    steps: [{ sql: "insert into entries (id, account, cents) values (1, 'a1', 1) on conflict (id) do update set cents = 2 returning id", returns: one }]
  first:
    steps: [{ sql: "select id from accounts order by id limit 1", returns: one }]
  sort:
    steps: [{ sql: "select id from accounts order by note", returns: many }]
`);
    const { operations, tables } = parseSchema(
      (await rowsOf(server, "SELECT text FROM _schema ORDER BY version DESC LIMIT 1"))[0]![0] as string,
    ).schema!;
    const proofs = await proveOperations(server.database, { tables, operations });
    expect([...proofs].map(([name, { isShort, problems }]) => [name, isShort, problems])).toEqual([
      ["transfer", true, []],
      ["walk", false, []],
      ["look", true, []],
      ["recur", false, []],
      ["add", true, []],
      ["first", false, []],
      ["sort", false, []],
    ]);
  });
});

describe("an operation that does not fit", () => {
  const withStep = (sql: string) =>
    `${accountsSchema}  bad:\n    steps:\n      - { sql: ${JSON.stringify(sql)}, expect: 1 }\n`;

  it("keeps the schema from being applied", async () => {
    const { server } = await serveAccounts();
    await run(server, "CREATE TABLE secrets (id TEXT)");
    for (const sql of [
      "select id from _users",
      "select id from '_users'",
      "pragma table_info(accounts)",
      "attach 'x' as y",
      "select 1; select 2",
      "select load_extension('x')",
      "select id from secrets",
      "select missing from accounts",
      "select concat(id) from nowhere",
      "update accounts set cents = 1, cents",
      "insert or replace into accounts (id) values ('x')",
    ]) {
      const outcome = await applyChange(server.database, withStep(sql), { allowDestructive: true, now: 0 });
      expect({ sql, outcome: outcome.outcome }).toEqual({ sql, outcome: "refused" });
    }
    const fits = withStep("select id from accounts");
    expect(await applyChange(server.database, fits, { allowDestructive: true, now: 0 })).toMatchObject({
      outcome: "applied",
    });
  });

  it("that a change of its tables would leave so keeps that change from being made", async () => {
    const more = "  touch:\n    steps: [{ sql: \"update accounts set note = 'x' where id = 'a1'\" }]\n";
    const { server } = await serveAccounts(more);
    const changed = (from: string, to: string) =>
      (accountsSchema + more)
        .replace(`    ${from}:`, `    ${to}:`)
        .replace("{ type: text }\nentries", `{ type: text, renamed_from: ${from} }\nentries`);
    const apply = (text: string) => applyChange(server.database, text, { allowDestructive: true, now: 0 });
    const renamed = changed("note", "remark");
    expect(await apply(renamed)).toMatchObject({
      outcome: "refused",
      reason: "constraint",
      message: expect.stringContaining("note"),
    });
    expect(await apply(renamed.replace("set note", "set remark"))).toMatchObject({ outcome: "applied" });
    const key = client(server, await apiKey(server, "operation:touch"));
    expect(dataOf(await key.post("/ops/touch", {}))).toBeNull();
    expect(await rowsOf(server, "SELECT remark FROM accounts WHERE id = 'a1'")).toEqual([["x"]]);
  });

  it("any more, as another program has changed its table, is 503, and all others go on", async () => {
    const { server } = await serveAccounts(`
  other:
    steps: [{ sql: "select note from accounts where id = 'a1'", returns: one }]
`);
    await run(server, "ALTER TABLE accounts RENAME COLUMN note TO remark");
    await run(server, "UPDATE _schema SET version = version + 1");
    const key = client(server, await apiKey(server, "project:backend"));
    expectRefusal(await key.get("/ops/other"), 503, "unavailable");
    expect(server.log.lines.join("\n")).toContain("operations do not fit");
    expect(dataOf(await key.post("/ops/transfer", { from: "a1", to: "b1", cents: 1 }))).toMatchObject({
      id: "a1",
    });
  });
});
