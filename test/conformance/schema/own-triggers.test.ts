import { describe, expect, it } from "vitest";
import { planChange } from "../../../src/schema/plan/plan.js";
import { pullSchema } from "../../../src/schema/pull/pull.js";
import { client } from "../../support/client.js";
import { rowsOf, run } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";
import { applied } from "./support.js";

const notes = `
notes:
  columns:
    id: { type: integer, primary_key: true }
    body: { type: text }
`;
const schema = `${notes}
comments:
  columns:
    id: { type: integer, primary_key: true }
    note_id: { type: integer, references: { table: notes, on_delete: cascade } }
  indexes: [{ columns: [note_id] }]
seen:
  columns:
    id: { type: integer, primary_key: true }
    what: { type: text }
`;

/** What the server might keep beside the rows: each change writes two rows of a table of its own, and reads some. */
const log = "CREATE TABLE _log (id INTEGER PRIMARY KEY, what TEXT, n INTEGER)";
const ownTrigger = (table: string, event: "INSERT" | "UPDATE" | "DELETE", row: "new" | "old") =>
  `CREATE TRIGGER _svc_note_${table}_${event.toLowerCase()} AFTER ${event} ON ${table} BEGIN
    INSERT INTO _log (what, n) SELECT '${event} ${table} ' || ${row}.id, count(*) FROM _log;
    INSERT INTO _log (what, n) SELECT what, -1 FROM _log ORDER BY id DESC LIMIT 1; END`;

async function watched() {
  const server = await serve({ schema });
  await run(server, log);
  for (const table of ["notes", "comments"]) {
    await run(server, ownTrigger(table, "INSERT", "new"));
    await run(server, ownTrigger(table, "UPDATE", "new"));
    await run(server, ownTrigger(table, "DELETE", "old"));
  }
  const logged = async () =>
    (await rowsOf(server, "SELECT what FROM _log WHERE n >= 0 ORDER BY id")).map(([what]) => what);
  const triggers = async () =>
    (await rowsOf(server, "SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name")).map(String);
  return { server, key: client(server, await apiKey(server, "project:backend")), logged, triggers };
}

const ownNames = ["comments", "notes"].flatMap((table) =>
  ["delete", "insert", "update"].map((event) => `_svc_note_${table}_${event}`),
);

describe("the server's own triggers", () => {
  it("are no rows of the owner's: not read, not written", async () => {
    const { server, key, logged } = await watched();
    await run(
      server,
      "CREATE TRIGGER told AFTER INSERT ON comments BEGIN INSERT INTO seen (what) VALUES ('comment'); END",
    );
    const counts = async (answer: ReturnType<typeof key.post>) => {
      const { rows_read, rows_written } = ((await answer).body as { meta: Record<string, unknown> }).meta;
      return [rows_read, rows_written];
    };
    expect(await counts(key.post("/api/notes", { body: "a" }))).toEqual([0, 1]);
    expect(await counts(key.patch("/api/notes/1", { body: "b" }))).toEqual([1, 1]);
    expect(await counts(key.post("/api/comments", { note_id: 1 }))).toEqual([0, 2]);
    expect(await counts(key.patch("/api/comments/1", { note_id: 1 }))).toEqual([1, 1]);
    // How many comments go with a note is not told apart from what the triggers write.
    expect(await counts(key.delete("/api/notes/1"))).toEqual([1, null]);
    expect(await counts(key.post("/api/notes", {}))).toEqual([0, 1]);
    expect(await counts(key.post("/api/seen", {}))).toEqual([0, 1]);
    expect((await logged()).sort()).toEqual([
      "DELETE comments 1",
      "DELETE notes 1",
      "INSERT comments 1",
      "INSERT notes 1",
      "INSERT notes 1",
      "UPDATE comments 1",
      "UPDATE notes 1",
    ]);
  });

  it("are dropped first by every plan and made again last, and see nothing of it", async () => {
    const { server, key, logged, triggers } = await watched();
    await key.post("/api/notes", { body: "a" });
    await key.post("/api/comments", { note_id: 1 });
    const before = await logged();
    const proposed = schema
      .replace("body: { type: text }", "text: { type: text, not_null: true, renamed_from: body }")
      .replace("comments:", "remarks:\n  renamed_from: comments")
      .replace("note_id: { type: integer,", "note_id: { type: integer, not_null: true,");
    const planned = await planChange(server.database, proposed);
    if (planned.outcome !== "planned") throw new Error(JSON.stringify(planned));
    const { steps } = planned.plan;
    const kinds = steps.map(({ kind }) => kind);
    expect(kinds[0]).toBe("drop_trigger");
    expect(kinds.filter((kind) => kind === "rebuild_table").length).toBeGreaterThan(0);
    const back = kinds.indexOf("create_trigger");
    expect(kinds.slice(back)).toEqual(
      ["create_trigger", "rename_table", "rename_column"].filter((kind) => kinds.includes(kind as never)),
    );
    expect(steps.every(({ safe }) => safe)).toBe(true);
    await applied(server.database, proposed);
    expect(await logged()).toEqual(before);
    expect(await triggers()).toEqual(ownNames);
    expect((await key.post("/api/remarks", { note_id: 1 })).status).toBe(201);
    expect((await key.patch("/api/notes/1", { text: "c" })).status).toBe(200);
    expect(await logged()).toEqual([...before, "INSERT comments 2", "UPDATE notes 1"]);
  });

  it("go with a table that is dropped, and come back on the others", async () => {
    const { server, triggers } = await watched();
    await applied(server.database, notes, { allowDestructive: true });
    expect(await triggers()).toEqual(ownNames.filter((name) => name.includes("notes")));
  });

  it("stay where a plan has nothing to do, and are nothing that a pulled file speaks of", async () => {
    const { server, triggers } = await watched();
    await run(server, "CREATE TRIGGER theirs AFTER INSERT ON notes BEGIN INSERT INTO seen (what) VALUES ('n'); END");
    const same = await planChange(server.database, `# the same\n${schema}`);
    expect(same).toMatchObject({ outcome: "planned", plan: { steps: [] } });
    const { text, notes: told } = await pullSchema(server.database);
    expect(JSON.stringify(told)).toContain("theirs");
    expect(text + JSON.stringify(told)).not.toContain("_svc_");
    expect(await triggers()).toEqual([...ownNames, "theirs"]);
  });
});
