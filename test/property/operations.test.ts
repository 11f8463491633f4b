import { expect, onTestFinished, test } from "vitest";
import { isRefusal } from "../../src/http/refusal.js";
import { Tally } from "../../src/metering/tally.js";
import { openLibsql } from "../../src/node/database/libsql.js";
import { systemRandom } from "../../src/node/system.js";
import { callOperation } from "../../src/operations/call.js";
import { paramsFromBody } from "../../src/operations/params.js";
import type { Database } from "../../src/platform/database.js";
import { StatementError } from "../../src/platform/database.js";
import { parseRules } from "../../src/project/parse-rules.js";
import { parseSchema } from "../../src/project/parse-schema.js";
import { applySafe } from "../../src/schema/apply.js";
import { loadCatalog } from "../../src/schema/catalog.js";
import { proveOperations } from "../../src/schema/prove-operations.js";
import { tokenize } from "../../src/sqlite/sql-tokens.js";
import { noPlanChecks } from "../../src/tables/plan/plan-check.js";
import { Random } from "./support/random.js";

const mutants = Number(process.env.MUTANTS ?? 400);

const tables = `
accounts:
  history: forever
  columns: { id: { type: text, primary_key: true }, owner_id: { type: text }, cents: { type: integer } }
entries:
  columns: { id: { type: integer, primary_key: true }, account: { type: text, references: { table: accounts } }, note: { type: text } }
`;

/** In every table of the server's own, and in one that the schema does not declare. */
const canary = "canary7f3a91";

const seeds = [
  "select id, owner_id as note from accounts where id = :id",
  "select a.id, e.note from accounts a left join entries e on e.account = a.id order by a.id",
  "with recursive c(id) as (select 'a' union all select id || 'b' from c where length(id) < 5) select id from c",
  "select value as note from json_each(:note) where value in (select id from accounts)",
  "select group_concat(id) as note from accounts group by owner_id having count(*) > 0",
  "update accounts set owner_id = :note where id = :id returning id, owner_id as note",
  "update accounts set cents = (select count(*) from entries where account = accounts.id)",
  "insert into entries (account, note) select id, :note from accounts returning id, note",
  "insert into accounts (id, owner_id) values (:id, :note) on conflict (id) do update set owner_id = excluded.owner_id returning id",
  "delete from entries where account = :id or note in ('a', 'b') returning note",
];

/** What is put in the place of a token, or between two. */
const pieces = [
  "_users",
  '"_users"',
  "'_users'",
  "[_users]",
  "`_USERS`",
  "main._users",
  "temp.secrets",
  "secrets",
  "'Secrets'",
  "sqlite_master",
  "sqlite_schema",
  "pragma_table_list",
  "pragma_table_info('_users')",
  "dbstat",
  "sqlite_dbpage",
  "_changes",
  "_sessions",
  "(select group_concat(email) from _users)",
  "union all select email, password_hash from _users",
  "union select name, sql from sqlite_master",
  "join _users u on 1",
  ", _users",
  "; select * from _users",
  "; drop table accounts",
  "--",
  "/* */",
  "\ufeff_users",
  "\u00a0",
  "from",
  "in _users",
  "in secrets",
  "json_each((select group_concat(email) from _users))",
  "load_extension('x')",
  "readfile('/etc/passwd')",
  '"readfile"(1)',
  "pragma",
  "attach ':memory:' as x",
  "replace into",
  "or replace",
  "raise(abort, 'x')",
  "printf('%s', id)",
  "last_insert_rowid()",
  "rowid",
  "?",
  "?1",
  "@id",
  "$id",
  ":id",
  ":other",
  ":id(email)",
  "::id",
  "(",
  ")",
  "*",
  "as",
  "with x as (select email from _users)",
  "with _users(id) as (select 'x')",
  "returning *",
  "returning (select email from _users)",
  "1",
  "null",
  "x'00'",
  "id",
  "note",
  "accounts",
  "entries",
  "email",
];

function mutated(sql: string, random: Random): string {
  const parts = tokenize(sql).map(({ text }) => text);
  for (let changes = random.int(1, 2); changes > 0; changes--) {
    const at = random.int(0, parts.length);
    const replaced = random.chance(0.6) ? 1 : 0;
    if (random.chance(0.2)) parts.splice(at, random.int(1, 3));
    else parts.splice(at, replaced, random.chance(0.65) ? random.pick(parts) : random.pick(pieces));
  }
  return parts.join(random.chance(0.9) ? " " : random.pick(["\n", "\t", "  "]));
}

async function fill(database: Database): Promise<void> {
  const run = (sql: string) => database.batch([{ sql, params: [] }]);
  for (const sql of ["DELETE FROM entries", "DELETE FROM accounts"]) await run(sql);
  await run("INSERT INTO accounts (id, owner_id, cents) VALUES ('a', 'ada', 1), ('b', 'bob', 2)");
  await run("INSERT INTO entries (account, note) VALUES ('a', 'a'), ('b', 'c')");
}

test(`of ${mutants} mutated operations none reads what it must not`, async () => {
  const random = new Random(Random.seedOfRun());
  const database = openLibsql({ path: ":memory:", synchronous: "normal" });
  onTestFinished(() => database.close());
  await applySafe(database, tables, { now: 0 });
  const run = (sql: string) => database.batch([{ sql, params: [] }]);
  await run(
    `INSERT INTO _users (id, email, email_key, role, password_hash, created_at, disabled, email_verified) VALUES ('${canary}', '${canary}@x', '${canary}@x', 'admin', '${canary}', 1, 0, 1)`,
  );
  await run(`CREATE TABLE secrets (id TEXT, note TEXT)`);
  await run(`INSERT INTO secrets VALUES ('${canary}', '${canary}')`);
  await fill(database);
  const catalog = await loadCatalog(database);
  const counts = { refusedByText: 0, refusedByDatabase: 0, refused: 0, answered: 0 };
  for (let i = 0; i < mutants; i++) {
    const sql = mutated(random.pick(seeds), random);
    const named = [["id", "note"], ["id"], ["note"]].map((names) => ({
      sql,
      returns: "many",
      as: Object.fromEntries(names.map((name) => [name, "text"])),
    }));
    const steps = [...named, { sql }, { sql, expect: 2 }].map((each) => JSON.stringify(each));
    const params = "{ id: text, note: text }";
    const text = (each: string) => `${tables}$operations:\n  mutant: { params: ${params}, steps: [${each}] }\n`;
    const parsed = steps.map((each) => parseSchema(text(each))).find(({ schema }) => schema !== null);
    if (parsed === undefined) {
      counts.refusedByText++;
      continue;
    }
    const schema = parsed.schema!;
    const proof = (await proveOperations(database, schema)).get("mutant")!;
    if (proof.problems.length > 0) {
      counts.refusedByDatabase++;
      continue;
    }
    const operation = schema.operations.get("mutant")!;
    const { operations } = parseRules({ rules: new Map(), conditions: new Map() }, schema);
    const live = { operation, rules: operations.get("mutant")!, proof };
    const caller = { kind: "key", id: "k", scopes: ["operation:mutant"] } as const;
    const given = paramsFromBody(operation, { id: "a", note: '["a", "b"]' });
    if (isRefusal(given)) throw new Error(given.message);
    const call = { live, caller, project: { schema, catalog }, nowMs: 1 };
    const answer = await callOperation(call, given, () => ({
      database,
      tally: new Tally(),
      plans: noPlanChecks,
      values: new Map(),
      nowMs: 1,
      random: systemRandom,
      changedBy: () => ({ principalKind: "key", principalId: "k", at: 1, attemptId: null }),
      longWork: () => ({ principal: "k", isKey: true, withinMs: 5_000 }),
    })).catch((error: unknown) => {
      // Of what the wrapped statement says and the step alone does not.
      if (error instanceof StatementError) return { json: "", rowsReturned: 0 };
      throw error;
    });
    if (isRefusal(answer)) counts.refused++;
    else counts.answered++;
    const said = isRefusal(answer) ? answer.message : answer.json;
    expect(said.toLowerCase(), sql).not.toMatch(/canary7f3a91|63616e61727937663361|_users/);
    const held = await database.query(
      ["accounts", "entries"].map((name) => ({ sql: `SELECT * FROM ${name}`, params: [] })),
    );
    expect(JSON.stringify(held), sql).not.toContain(canary);
    if (operation.steps[0]!.statement.kind !== "select") await fill(database);
  }
  const [users] = await database.query([{ sql: "SELECT id, email FROM _users", params: [] }]);
  expect(users!.rows).toEqual([[canary, `${canary}@x`]]);
  // The mutations are to be mild enough that some run.
  expect(counts.answered).toBeGreaterThan(mutants / 100);
  expect(counts.refusedByText).toBeGreaterThan(mutants / 10);
  console.log(JSON.stringify(counts));
});
