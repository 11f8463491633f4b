import { describe, expect, it } from "vitest";
import { applyChange } from "../../../src/schema/apply.js";
import { planChange } from "../../../src/schema/plan/plan.js";
import { pullSchema } from "../../../src/schema/pull/pull.js";
import { type Client, client, dataOf, expectRefusal } from "../../support/client.js";
import { member, rowsOf, run } from "../../support/people.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";
import { applied } from "./support.js";

const columns = `
teams:
  columns:
    id: { type: integer, primary_key: true }
    name: { type: text, not_null: true }
members:
  primary_key: [team_id, user_id]
  columns:
    team_id: { type: integer, not_null: true, references: { table: teams, on_delete: cascade } }
    user_id: { type: text, not_null: true, references: { table: $users, on_delete: cascade } }
    role: { type: text, not_null: true, default: member }
`;
const keepOneOwner = `  triggers:
    keep_one_owner: |
      after delete on members
      when old.role = 'owner' and exists (select 1 from teams where id = old.team_id)
      begin
        select raise(abort, 'a team keeps one owner')
        where not exists (select 1 from members where team_id = old.team_id and role = 'owner');
      end
    keep_the_role: |
      after update of role on members when old.role = 'owner'
      begin
        select raise(abort, 'a team keeps one owner')
        where not exists (select 1 from members where team_id = old.team_id and role = 'owner');
      end
`;

it("a team keeps one owner, and whoever would take the last one is told so", async () => {
  const server = await serve({ schema: columns + keepOneOwner });
  const key = client(server, await apiKey(server, "project:backend"));
  const [ada, bob] = [await member(server, "ada"), await member(server, "bob")];
  dataOf(await key.post("/api/teams", { id: 1, name: "one" }));
  for (const { id } of [ada, bob]) dataOf(await key.post("/api/members", { team_id: 1, user_id: id, role: "owner" }));
  const rowOf = (id: string) => `/api/members/_svc/key?team_id=1&user_id=${id}`;
  expect((await key.delete(rowOf(bob.id))).status).toBe(200);
  for (const refused of [await key.delete(rowOf(ada.id)), await key.patch(rowOf(ada.id), { role: "member" })])
    expect(expectRefusal(refused, 400, "bad_request")).toBe("a team keeps one owner");
  expect(await rowsOf(server, "SELECT user_id, role FROM members")).toEqual([["ada", "owner"]]);
  // A team may go as a whole.
  expect((await key.delete("/api/teams/1")).status).toBe(200);
  expect(await rowsOf(server, "SELECT * FROM members")).toEqual([]);
});

const said = (trigger: string) => `
notes:
  history: forever
  columns:
    id: { type: integer, primary_key: true }
    body: { type: text }
    size: { type: integer }
  triggers:
    said: ${JSON.stringify(trigger)}
lines:
  history: forever
  columns:
    id: { type: integer, primary_key: true }
    line: { type: text }
`;
const insertsBody = "after insert on notes begin insert into lines (line) values (new.body); end";

async function noted(schema: string): Promise<{ server: TestServer; key: Client; lines: () => Promise<unknown> }> {
  const server = await serve({ schema });
  const key = client(server, await apiKey(server, "project:backend"));
  const lines = async () => (await rowsOf(server, "SELECT line FROM lines ORDER BY id")).map(([line]) => line);
  return { server, key, lines };
}

const triggersOf = async (server: TestServer) =>
  (
    await rowsOf(
      server,
      String.raw`SELECT name FROM sqlite_master WHERE type = 'trigger' AND name NOT LIKE '\_svc\_%' ESCAPE '\' ORDER BY name`,
    )
  ).map(([name]) => name);

async function descriptions(server: TestServer, text: string): Promise<string[]> {
  const planned = await planChange(server.database, text);
  if (planned.outcome !== "planned") throw new Error(JSON.stringify(planned));
  return planned.plan.steps.map(({ description }) => description);
}

describe("a declared trigger", () => {
  it("comes, changes and goes with the schema, and one that the file never had stays", async () => {
    const { server, key, lines } = await noted(said(insertsBody));
    await run(server, "CREATE TRIGGER theirs AFTER DELETE ON notes BEGIN DELETE FROM lines; END");
    const answer = await key.post("/api/notes", { body: "a" });
    expect(answer).toMatchObject({ status: 201, body: { meta: { rows_read: 0, rows_written: 2 } } });
    const loud = insertsBody.replace("new.body", "upper(new.body)");
    expect(await descriptions(server, said(loud))).toEqual([
      "drop the triggers that log changes of notes",
      "drop trigger said",
      "create trigger said on notes",
      "log changes of notes before its other triggers run",
    ]);
    await applied(server.database, said(loud));
    await key.post("/api/notes", { body: "b" });
    expect(await lines()).toEqual(["a", "B"]);
    const logged = await rowsOf(server, "SELECT tbl FROM _changes ORDER BY seq");
    expect(logged.map(([table]) => table)).toEqual(["notes", "lines", "notes", "lines"]);
    expect(await descriptions(server, said(loud.replace("after insert", "AFTER  INSERT")))).toEqual([]);
    const trigger = / {2}triggers:\n.*\n/;
    const moved = said(loud).replace(trigger, "") + trigger.exec(said("after delete on lines begin select 1; end"))![0];
    expect(await descriptions(server, moved)).toEqual([
      "drop the triggers that log changes of lines",
      "drop trigger said",
      "create trigger said on lines",
      "log changes of lines before its other triggers run",
    ]);
    const without = said(loud).replace(trigger, "");
    expect(await descriptions(server, without)).toEqual(["drop trigger said"]);
    await applied(server.database, without);
    expect(await triggersOf(server)).toEqual(["theirs"]);
    await key.post("/api/notes", { body: "c" });
    expect(await lines()).toEqual(["a", "B"]);
  });

  it("follows renames and rebuilds, and what it does is logged behind the change that it follows", async () => {
    const { server, key } = await noted(said(insertsBody));
    const next = `
letters:
  renamed_from: notes
  history: forever
  columns:
    id: { type: integer, primary_key: true }
    text: { type: text, not_null: true, default: "", renamed_from: body }
  triggers:
    said: after insert on letters begin insert into rows (row) values (new.text); end
rows:
  renamed_from: lines
  history: forever
  columns:
    id: { type: integer, primary_key: true }
    row: { type: text, renamed_from: line }
`;
    await applied(server.database, next, { allowDestructive: true });
    expect(await descriptions(server, next)).toEqual([]);
    expect((await key.post("/api/letters", { text: "a" })).status).toBe(201);
    expect(await rowsOf(server, "SELECT row FROM rows")).toEqual([["a"]]);
    expect(await rowsOf(server, "SELECT tbl FROM _changes ORDER BY seq")).toEqual([["letters"], ["rows"]]);
    const rebuilt = next.replace("row: { type: text,", "row: { type: text, not_null: true,");
    expect(await descriptions(server, rebuilt)).not.toContain("create trigger said on letters");
    await applied(server.database, rebuilt);
    await key.post("/api/letters", { text: "b" });
    expect(await rowsOf(server, "SELECT row FROM rows ORDER BY id")).toEqual([["a"], ["b"]]);
    expect(await rowsOf(server, "SELECT tbl FROM _changes ORDER BY seq DESC LIMIT 2")).toEqual([["rows"], ["letters"]]);
  });

  it("holds up the drop of what it uses, unless it goes, too", async () => {
    const { server } = await noted(said("after insert on notes when new.size > 1 begin select 1; end"));
    const apply = (text: string) => applyChange(server.database, text, { allowDestructive: true, now: 0 });
    const smaller = (text: string) => text.replace("    size: { type: integer }\n", "");
    expect(await apply(smaller(said("after insert on notes when new.size > 1 begin select 1; end")))).toMatchObject({
      reason: "constraint",
      message: "trigger said uses notes.size: drop it first",
    });
    expect(await apply(smaller(said(insertsBody)))).toMatchObject({ outcome: "applied" });
    expect(await triggersOf(server)).toEqual(["said"]);
  });

  it("that cannot be compiled is refused, and so is everything beside it", async () => {
    const { server, key, lines } = await noted(said(insertsBody));
    for (const [trigger, message] of [
      [insertsBody.replace("new.body", "new.bdoy"), "the database refuses: no such column: new.bdoy"],
      ["after update on notes begin delete from lines where row = 1; end", "the database refuses: no such column: row"],
      [
        "after delete on notes begin insert into lines values (1); end",
        "the database refuses: table lines has 2 columns but 1 values were supplied",
      ],
      ["after delete on notes begin select from; end", expect.stringContaining("syntax error")],
    ] as const) {
      const text = `${said(trigger)}more:\n  columns:\n    id: { type: integer, primary_key: true }\n`;
      const outcome = await applyChange(server.database, text, { allowDestructive: true, now: 0 });
      expect(outcome).toMatchObject({ outcome: "refused", reason: "constraint", message });
    }
    expect((await key.get("/api/more")).status).toBe(404);
    await key.post("/api/notes", { body: "a" });
    expect(await lines()).toEqual(["a"]);
  });

  it("names no table of the database that the schema does not have", async () => {
    const { server } = await noted(said(insertsBody));
    await run(server, "CREATE TABLE hidden (id INTEGER)");
    for (const trigger of [
      "after insert on notes begin delete from hidden; end",
      "after insert on notes when 1 in 'Hidden' begin select 1; end",
    ]) {
      const outcome = await applyChange(server.database, said(trigger), { allowDestructive: true, now: 0 });
      expect(outcome).toMatchObject({ outcome: "refused", reason: "invalid" });
      expect(JSON.stringify(outcome)).toMatch(
        /"path":"notes\.triggers\.said","message":"\S+( 1)?: hidden is not a table of the schema"/i,
      );
    }
  });

  it("that is there already is taken over as it is, and not with another text", async () => {
    const plain = said(insertsBody).replace(/ {2}triggers:\n.*\n/, "");
    const { server } = await noted(plain);
    await run(server, `CREATE TRIGGER "Said" ${insertsBody.replace("after insert on", "AFTER INSERT  ON")}`);
    expect(await descriptions(server, said(insertsBody))).toEqual([]);
    const other = said(insertsBody.replace("new.body", "'x'"));
    expect(await applyChange(server.database, other, { allowDestructive: true, now: 0 })).toMatchObject({
      reason: "constraint",
      message: "trigger said of notes is there, and differs from the file: declare it as it is, or drop it first",
    });
    expect((await pullSchema(server.database)).notes.kept).toEqual(["notes: trigger Said"]);
    await applied(server.database, said(insertsBody));
    await applied(server.database, other);
    expect(await triggersOf(server)).toEqual(["said"]);
  });
});
