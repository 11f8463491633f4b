import { describe, expect, it } from "vitest";
import type { Database } from "../../../src/platform/database.js";
import { applyChange } from "../../../src/schema/apply.js";
import { type Client, client, dataOf, expectRefusal } from "../../support/client.js";
import { apiKey, serve } from "../../support/server.js";
import { applied, apply, databaseWithForeignKeysOn, emptyDatabase, rows, run, sound, soundness } from "./support.js";

const likes = (of: string) => `
likes:
  columns:
    id: { type: integer, primary_key: true }
    of: { type: integer, references: { table: ${of}, on_delete: cascade } }
`;
const table = (name: string, more = "", columns = "") => `
${name}:${more}
  history: forever
  search: [body]
  columns:
    id: { type: integer, primary_key: true }
    body: { type: text, not_null: true }
    version: { type: integer, not_null: true, managed: version }${columns}
  indexes: [{ columns: [body] }]
`;
const from = (name: string) => `\n  renamed_from: ${name}`;

const names = async (database: Database) =>
  (await rows(database, "SELECT name FROM sqlite_master WHERE name LIKE '%\\_new\\_%' ESCAPE '\\'")).flat();
const logged = (database: Database) => rows(database, "SELECT tbl, count(*) FROM _changes GROUP BY tbl ORDER BY tbl");
const indexes = (database: Database) =>
  rows(
    database,
    "SELECT tbl_name, name FROM sqlite_master WHERE type = 'index' AND sql NOT NULL AND tbl_name NOT LIKE '\\_%' ESCAPE '\\' ORDER BY 2",
  );
const parents = (database: Database) => rows(database, "SELECT \"table\" FROM pragma_foreign_key_list('likes')");

describe.each([
  ["that are switched off meanwhile", false],
  ["that stay on", true],
])("with foreign keys %s", (_, foreignKeysStayOn) => {
  const open = () => (foreignKeysStayOn ? databaseWithForeignKeysOn() : emptyDatabase());

  it("a table is renamed, and a new one takes its name", async () => {
    const database = open();
    await applied(database, table("messages") + likes("messages"));
    await run(
      database,
      "INSERT INTO messages (id, body) VALUES (1, 'old')",
      "UPDATE messages SET body = 'older' WHERE id = 1",
      "INSERT INTO likes VALUES (1, 1)",
    );
    const text = table("messages") + table("archive", from("messages")) + likes("archive");
    const { steps } = await applied(database, text, { foreignKeysStayOn });
    expect(steps.every(({ safe }) => safe)).toBe(true);
    expect(await rows(database, "SELECT id, body FROM archive")).toEqual([[1, "older"]]);
    expect(await rows(database, "SELECT id FROM messages")).toEqual([]);
    expect(await parents(database)).toEqual([["archive"]]);
    expect(await logged(database)).toEqual([["archive", 2]]);
    await run(
      database,
      "INSERT INTO messages (id, body) VALUES (7, 'new')",
      "UPDATE archive SET body = 'oldest' WHERE id = 1",
    );
    expect(await logged(database)).toEqual([
      ["archive", 3],
      ["messages", 1],
    ]);
    expect(await rows(database, "SELECT rowid FROM _search_messages_words('new')")).toEqual([[7]]);
    expect(await rows(database, "SELECT rowid FROM _search_archive_words('oldest')")).toEqual([[1]]);
    expect(await rows(database, "SELECT typeof(version) FROM messages")).toEqual([["integer"]]);
    expect(await indexes(database)).toEqual([
      ["archive", "archive(body)"],
      ["messages", "messages(body)"],
    ]);
    expect(await names(database)).toEqual([]);
    expect(await soundness(database)).toEqual(sound);
    // The file stays as it is, and nothing is to be done.
    expect(await apply(database, text, { foreignKeysStayOn })).toMatchObject({ outcome: "unchanged" });
  });

  it("references and rows go to the new table where the file says so", async () => {
    const database = open();
    await applied(database, table("messages") + likes("messages"));
    await run(database, "INSERT INTO messages (id, body) VALUES (1, 'old')", "INSERT INTO likes VALUES (1, NULL)");
    const text = table("archive", from("messages")) + table("messages") + likes("messages");
    await applied(database, text, { foreignKeysStayOn });
    expect(await parents(database)).toEqual([["messages"]]);
    expect(await rows(database, "SELECT body FROM archive")).toEqual([["old"]]);
    expect(await soundness(database)).toEqual(sound);
  });

  it("rows that refer to the renamed table prevent a reference to the new one", async () => {
    const database = open();
    await applied(database, table("messages") + likes("messages"));
    await run(database, "INSERT INTO messages (id, body) VALUES (1, 'old')", "INSERT INTO likes VALUES (1, 1)");
    const text = table("archive", from("messages")) + table("messages") + likes("messages");
    const outcome = await apply(database, text, { foreignKeysStayOn });
    expect(outcome).toMatchObject({
      reason: "constraint",
      message: "rows of likes.of refer to no row of messages (1)",
    });
  });

  it("a chain of tables is renamed from its end, with a rebuild", async () => {
    const database = open();
    await applied(database, table("a") + table("b") + likes("a"));
    await run(
      database,
      "INSERT INTO a (id, body) VALUES (1, 'a')",
      "INSERT INTO b (id, body) VALUES (2, 'b')",
      "INSERT INTO likes VALUES (1, 1)",
    );
    const checked = '\n    size: { type: integer, default: 1, check: "size > 0" }';
    const token = '\n    token: { type: text, not_null: true, default: { sql: "hex(randomblob(4))" } }';
    const text = table("a") + table("b", from("a"), checked) + table("c", from("B"), token) + likes("b");
    const { steps } = await applied(database, text, { foreignKeysStayOn });
    expect(steps.every(({ safe }) => safe)).toBe(true);
    expect(await rows(database, "SELECT id, body FROM b")).toEqual([[1, "a"]]);
    expect(await rows(database, "SELECT id, body FROM c")).toEqual([[2, "b"]]);
    expect(await rows(database, "SELECT id FROM a")).toEqual([]);
    expect(await parents(database)).toEqual([["b"]]);
    expect(await logged(database)).toEqual([
      ["b", 1],
      ["c", 1],
    ]);
    expect((await indexes(database)).map(([, name]) => name)).toEqual(["a(body)", "b(body)", "c(body)"]);
    expect(await names(database)).toEqual([]);
    expect(await soundness(database)).toEqual(sound);
    expect(await apply(database, text, { foreignKeysStayOn })).toMatchObject({ outcome: "unchanged" });
  });

  it("columns are renamed in a chain, and a new one takes the first name", async () => {
    const database = open();
    const column = (name: string, more = "") => `\n    ${name}: { type: text, unique: true${more} }`;
    const trigger = (name: string) =>
      `\n  triggers:\n    keep: after update of ${name} on notes when new.${name} is null begin select raise(abort, 'kept'); end\n`;
    const notes = (columns: string, kept: string, rest = "") =>
      `notes:\n  history: forever\n  search: [a]\n  columns:\n    id: { type: integer, primary_key: true }${columns}${rest}${trigger(kept)}`;
    await applied(database, notes(column("a") + column("b"), "b"));
    await run(
      database,
      "INSERT INTO notes VALUES (1, 'one', 'two')",
      "UPDATE notes SET a = 'uno' WHERE id = 1",
      "CREATE VIEW seen AS SELECT b FROM notes",
    );
    const moved = column("b", ", renamed_from: a") + column("c", ", renamed_from: b");
    for (const rebuilt of ["", '\n    token: { type: text, not_null: true, default: { sql: "hex(randomblob(4))" } }']) {
      const text = notes(column("a") + moved, "c", rebuilt);
      const { steps } = await applied(database, text, { foreignKeysStayOn });
      expect(steps.every(({ safe }) => safe)).toBe(true);
      expect(await rows(database, "SELECT id, a, b, c FROM notes")).toEqual([[1, null, "uno", "two"]]);
      expect(await apply(database, text, { foreignKeysStayOn })).toMatchObject({ outcome: "unchanged" });
    }
    expect(
      await rows(database, "SELECT old -> '$.a', old ->> '$.b', old ->> '$.c' FROM _changes WHERE old NOT NULL"),
    ).toEqual([[null, "one", "two"]]);
    expect(await rows(database, "SELECT * FROM seen")).toEqual([["two"]]);
    await expect(run(database, "UPDATE notes SET c = NULL")).rejects.toThrow("kept");
    await run(database, "UPDATE notes SET a = 'three'");
    expect(await rows(database, "SELECT rowid FROM _search_notes_words('three')")).toEqual([[1]]);
    expect(await rows(database, "SELECT rowid FROM _search_notes_words('uno')")).toEqual([]);
    expect((await indexes(database)).map(([, name]) => name)).toEqual([
      "unique notes(a)",
      "unique notes(b)",
      "unique notes(c)",
    ]);
    expect(await soundness(database)).toEqual(sound);
  });
});

const id = "\n    id: { type: integer, primary_key: true }";
const columns = (...list: string[]) =>
  `t:\n  columns:${id}${list.map((each) => `\n    ${each.replace(" < ", ": { type: text, renamed_from: ").replace(/^\w+$/, "$&: { type: text")} }`).join("")}\n`;

describe("renames that cannot be meant are problems, whatever the case of the names", () => {
  it.each([
    ["two columns change places", columns("a < b", "b < a"), "t.columns.a.renamed_from: a, b change places"],
    ["three do", columns("a < b", "b < c", "c < a"), "t.columns.a.renamed_from: a, b, c change places"],
    ["in another case", columns("A < b", "B < a"), "t.columns.A.renamed_from: A, B change places"],
    ["one is its own", columns("a < a"), "t.columns.a.renamed_from: is the name itself"],
    ["two from one", columns("b < a", "c < A"), "t.columns.c.renamed_from: A is the old name of b already"],
    [
      "two tables",
      `a:\n  renamed_from: b\n  columns:${id}\nb:\n  renamed_from: A\n  columns:${id}\n`,
      "a.renamed_from: a, b change places",
    ],
  ])("%s", async (_, text, message) => {
    const database = emptyDatabase();
    await applied(database, columns("a", "b", "c"));
    const outcome = await apply(database, text);
    if (outcome.outcome !== "refused" || outcome.reason !== "invalid") throw new Error(JSON.stringify(outcome));
    const found = outcome.problems.map((each) => `${each.path}: ${each.message}`);
    expect(found).toEqual([expect.stringContaining(message)]);
  });
});

const written = async (schema: string): Promise<{ key: Client; change: (text: string) => Promise<unknown> }> => {
  const server = await serve({ schema, config: "usage.enabled = false" });
  const key = client(server, await apiKey(server, "project:backend"));
  const change = (text: string) =>
    applyChange(server.database, text, { allowDestructive: true, now: 5_000_000_000_000 });
  return { key, change };
};

describe("an image that is restored", () => {
  it("follows renames, and leaves the table that has the old name alone", async () => {
    const { key, change } = await written(table("messages"));
    await key.post("/api/messages", { id: 1, body: "first" });
    await key.patch("/api/messages/1", { body: "second" });
    await key.post("/api/messages", { id: 2, body: "gone" });
    await key.delete("/api/messages/2");
    const text = table("messages") + table("archive", from("messages"));
    const renamed = text
      .replaceAll("search: [body]", "search: [text]")
      .replaceAll("columns: [body]", "columns: [text]");
    const moved = renamed.replace(/body: \{/, "text: {").replace("body: { ", "text: { renamed_from: body, ");
    expect(await change(moved)).toMatchObject({ outcome: "applied" });
    const [entry] = dataOf(await key.get("/api/archive/_svc/history?where[id]=1&limit=2")) as unknown as {
      seq: number;
    }[];
    expect(dataOf(await key.get("/api/messages/_svc/history"))).toEqual([]);
    const seq = entry!.seq - 1;
    const restored = await key.post("/api/archive/_svc/restore", { key: { id: 1 }, seq });
    expect(dataOf(restored)).toMatchObject({ id: 1, text: "first" });
    const gone = await key.post("/api/archive/_svc/restore", { key: { id: 2 }, seq: entry!.seq + 1 });
    expect(dataOf(gone)).toMatchObject({ id: 2, text: "gone" });
    expect(dataOf(await key.get("/api/messages"))).toEqual([]);
  });

  it("does not overwrite a row that has taken its key since", async () => {
    const { key } = await written(table("messages"));
    await key.post("/api/messages", { id: 1, body: "first" });
    await key.delete("/api/messages/1");
    await key.post("/api/messages", { id: 1, body: "other" });
    expectRefusal(await key.post("/api/messages/_svc/restore", { key: { id: 1 }, seq: 1 }), 409, "conflict", ["id"]);
    expect(dataOf(await key.get("/api/messages/1"))).toMatchObject({ body: "other" });
    await key.patch("/api/messages/1", { body: "changed" });
    const restored = await key.post("/api/messages/_svc/restore", { key: { id: 1 }, seq: 3 });
    expect(dataOf(restored)).toMatchObject({ body: "other" });
    await key.delete("/api/messages/1");
    const again = await key.post("/api/messages/_svc/restore", { key: { id: 1 }, seq: 1 });
    expect(dataOf(again)).toMatchObject({ body: "first" });
  });

  it("has what CAST makes of values of an earlier type", async () => {
    const typed = (type: string, more = "") =>
      `notes:\n  history: forever\n  columns:${id}\n    n: { type: ${type}${more} }\n    m: { type: text }\n`;
    const { key, change } = await written(typed("text"));
    await key.post("/api/notes", { id: 1, n: "12", m: "x" });
    await key.patch("/api/notes/1", { n: "7 days" });
    await key.patch("/api/notes/1", { n: "3" });
    const restored = async (seq: number) => dataOf(await key.post("/api/notes/_svc/restore", { key: { id: 1 }, seq }));
    for (const [type, values] of [
      ["integer", [12, 7]],
      ["boolean", [true, true]],
      ["real", [12, 7]],
      ["text", ["12", "7 days"]],
      ["blob", [btoa("12"), btoa("7 days")]],
    ] as const) {
      expect(await change(typed(type))).toMatchObject({ outcome: "applied" });
      expect(await restored(1), type).toMatchObject({ n: values[0] });
      expect(await restored(2), type).toMatchObject({ n: values[1] });
    }
  });
});
