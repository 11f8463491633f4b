import { describe, expect, it } from "vitest";
import { client } from "../../support/client.js";
import { member, rowsOf, run } from "../../support/people.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";
import { applied } from "./support.js";

const versioned = `
  columns:
    id: { type: text, primary_key: true }
    parent_id: { type: text, references: { table: notes, on_delete: set_null } }
    made_by: { type: text, managed: created_by, references: { table: $users, on_delete: set_null } }
    body: { type: text }
    made: { type: text, not_null: true, managed: created_at }
    changed: { type: integer, managed: updated_at }
    version: { type: integer, managed: version }
`;
const schema = `
notes:
  history: forever
  search: [body]${versioned}`;

const start = 2 ** 40;

async function versions(server: TestServer): Promise<Record<string, number>> {
  const found = await rowsOf(server, "SELECT id, version FROM notes ORDER BY id");
  return Object.fromEntries(found.map(([id, version]) => [String(id), Number(version)]));
}

describe("the version of a row", () => {
  it("begins at a random number whoever inserts the row, and is not given again with its key", async () => {
    const server = await serve({ schema });
    await run(server, "INSERT INTO notes (id) VALUES ('a'), ('b')");
    await run(server, "INSERT INTO notes (id, version) VALUES ('c', NULL)");
    const key = client(server, await apiKey(server, "project:backend"));
    const answer = await key.post("/api/notes", { id: "d" });
    expect(answer).toMatchObject({ status: 201, body: { meta: { rows_read: 0, rows_written: 1 } } });
    const first = Object.values(await versions(server));
    for (const version of first) expect(version >= 0 && version < start).toBe(true);
    expect(new Set(first).size).toBe(4);
    await run(server, "DELETE FROM notes");
    await run(server, "INSERT INTO notes (id) VALUES ('a'), ('b'), ('c'), ('d')");
    const then = await versions(server);
    for (const version of Object.values(then)) expect(first).not.toContain(version);
    await run(server, "INSERT INTO notes (id, version) VALUES ('e', 7)");
    expect(await versions(server)).toEqual({ ...then, e: 7 });
  });

  it("is raised by one where a change leaves it, in each changed row, and by no more where one sets it", async () => {
    const server = await serve({ schema });
    await run(server, "INSERT INTO notes (id, version) VALUES ('a', 1), ('b', 10), ('c', 100)");
    await run(server, "UPDATE notes SET body = 'x' WHERE id <> 'c'");
    expect(await versions(server)).toEqual({ a: 2, b: 11, c: 100 });
    await run(server, "UPDATE notes SET body = 'x', version = version + 1 WHERE id = 'a'");
    await run(server, "UPDATE notes SET version = 5 WHERE id = 'b'");
    await run(server, "UPDATE notes SET id = 'z' WHERE id = 'c'");
    expect(await versions(server)).toEqual({ a: 3, b: 5, z: 101 });
    await run(server, "INSERT INTO notes (id, body) VALUES ('a', 'y') ON CONFLICT DO UPDATE SET body = 'y'");
    expect(await versions(server)).toEqual({ a: 4, b: 5, z: 101 });
    await run(server, "UPDATE notes SET version = NULL WHERE id = 'b'");
    expect(await versions(server)).toEqual({ a: 4, b: 6, z: 101 });
  });

  it("is set by requests themselves, which write one row and one entry of the log", async () => {
    const server = await serve({
      schema: `${schema}counters:
  columns:
    id: { type: integer, primary_key: true }
    note_id: { type: text, references: { table: notes, on_delete: cascade } }
    n: { type: integer }
    version: { type: integer, not_null: true, managed: version }
`,
    });
    const key = client(server, await apiKey(server, "project:backend"));
    const written = async (answer: ReturnType<typeof key.post>) => {
      const { data, meta } = (await answer).body as {
        data: { version: number };
        meta: { rows_written: unknown };
      };
      return [data.version, meta.rows_written] as const;
    };
    const [first, one] = await written(key.post("/api/notes", { id: "a" }));
    expect([one, first < start]).toEqual([1, true]);
    expect(await written(key.patch("/api/notes/a", { body: "x" }))).toEqual([first + 1, 1]);
    const [count] = await written(key.post("/api/counters", { note_id: "a" }));
    expect(await written(key.patch("/api/counters/1", { n: 1 }))).toEqual([count + 1, 1]);
    expect(await rowsOf(server, "SELECT op FROM _changes ORDER BY seq")).toEqual([["insert"], ["update"]]);
    expect(await written(key.delete("/api/counters/1"))).toEqual([undefined, 1]);
    // How many notes refer to this one, and get a version, is not told apart.
    expect(await written(key.delete("/api/notes/a"))).toEqual([undefined, null]);
  });

  it("is raised by what foreign keys and triggers of the owner's do with the row", async () => {
    const server = await serve({ schema });
    const ada = await member(server, "ada");
    await run(server, "INSERT INTO notes (id, version) VALUES ('p', 1)");
    await run(
      server,
      "INSERT INTO notes (id, parent_id, made_by, version) VALUES ('a', 'p', ?, 1), ('b', 'p', NULL, 1), ('c', NULL, ?, 1)",
      ada.id,
      ada.id,
    );
    await run(server, "DELETE FROM notes WHERE id = 'p'");
    expect(await versions(server)).toEqual({ a: 2, b: 2, c: 1 });
    await run(server, "DELETE FROM _users WHERE id = ?", ada.id);
    expect(await versions(server)).toEqual({ a: 3, b: 2, c: 2 });
    await run(
      server,
      "CREATE TRIGGER shout AFTER UPDATE OF body ON notes WHEN new.id = 'c' BEGIN UPDATE notes SET body = upper(new.body) WHERE id = 'b'; END",
    );
    await run(server, "UPDATE notes SET body = 'x' WHERE id = 'c'");
    expect(await versions(server)).toEqual({ a: 3, b: 3, c: 3 });
  });

  it("is in the log together with the change that raised it", async () => {
    const server = await serve({ schema });
    const key = client(server, await apiKey(server, "project:backend"));
    await run(server, "INSERT INTO notes (id, body, version) VALUES ('a', 'one', 1)");
    await run(server, "UPDATE notes SET body = 'two'");
    const logged = await rowsOf(server, "SELECT op, old ->> '$.body', old ->> '$.version' FROM _changes ORDER BY seq");
    expect(logged).toEqual([
      ["insert", null, null],
      ["update", "one", 1],
    ]);
    const { body } = await key.get("/api/notes/_svc/history");
    const { data } = body as { data: { row: Record<string, unknown> | null }[] };
    expect(data.map(({ row }) => [row?.body, row?.version])).toEqual([
      ["two", 2],
      ["one", 1],
    ]);
    const found = await key.get("/api/notes?search=two");
    expect(found).toMatchObject({ body: { data: [{ id: "a", body: "two", version: 2 }] } });
  });

  it("is in rows that are there when it comes, as are times, and stays through renames and rebuilds", async () => {
    const plain = `notes:\n  columns:\n    id: { type: text, primary_key: true }\n    body: { type: text }\n`;
    const server = await serve({ schema: plain });
    await run(server, "INSERT INTO notes (id, body) VALUES ('a', 'x'), ('b', 'y')");
    const second = async () => Number((await rowsOf(server, "SELECT unixepoch()"))[0]![0]);
    const before = await second();
    const { steps } = await applied(server.database, `notes:${versioned}`);
    const after = await second();
    expect(new Set(steps.map(({ safe }) => safe))).toEqual(new Set([true]));
    const began = await versions(server);
    expect(new Set(Object.values(began)).size).toBe(2);
    const [first] = await rowsOf(server, "SELECT made, unixepoch(made), changed FROM notes");
    expect(first![0]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    for (const at of first!.slice(1)) {
      expect(at).toBeGreaterThanOrEqual(before);
      expect(at).toBeLessThanOrEqual(after);
    }
    const renamed = `letters:\n  renamed_from: notes${versioned
      .replace("table: notes", "table: letters")
      .replace("id: { type: text, primary", "key: { renamed_from: id, type: text, primary")
      .replace("version: { type: integer,", "edition: { renamed_from: version, type: integer, not_null: true,")
      .replace("body: { type: text }", 'body: { type: text, not_null: true, default: "" }')}`;
    const { steps: again } = await applied(server.database, renamed);
    expect(new Set(again.map(({ safe }) => safe))).toEqual(new Set([true]));
    expect(await rowsOf(server, "SELECT key, edition FROM letters ORDER BY key")).toEqual(Object.entries(began));
    await run(server, "UPDATE letters SET body = 'z' WHERE key = 'a'");
    expect(await rowsOf(server, "SELECT edition FROM letters ORDER BY key")).toEqual([[began.a! + 1], [began.b]]);
    const gone = renamed
      .replace("not_null: true, managed: version", "not_null: true")
      .replace(", managed: updated_at", "");
    await applied(server.database, gone);
    await run(server, "UPDATE letters SET body = 'z' WHERE key = 'a'");
    expect(await rowsOf(server, "SELECT edition FROM letters WHERE key = 'a'")).toEqual([[began.a! + 1]]);
    const triggers = "SELECT count(*) FROM sqlite_master WHERE type = 'trigger'";
    expect(await rowsOf(server, triggers)).toEqual([[0]]);
  });
});
