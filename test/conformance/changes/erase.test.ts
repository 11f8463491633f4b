import { expect, test } from "vitest";
import { loadSchemaInForce } from "../../../src/schema/in-force.js";
import { eraseHistory } from "../../../src/tables/history/erase.js";
import { type Client, client, dataOf } from "../../support/client.js";
import { countOf, member, rowsOf, run } from "../../support/people.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";

const schema = `
$history: forever
rooms: { columns: { id: { type: integer, primary_key: true }, owner: { type: text } } }
notes: { columns: { id: { type: integer, primary_key: true }, body: { type: text } } }
doors: { primary_key: [a, b], columns: { a: { type: text }, b: { type: blob }, n: { type: integer } } }
plain: { history: none, columns: { id: { type: integer, primary_key: true } } }
`;
const config = `
usage.enabled = false
[rules.rooms]
read = "row.owner = auth.id"
[rules.notes]
read = "exists(rooms r where r.id = row.id and r.owner = auth.id)"
`;

async function rooms(): Promise<{ server: TestServer; key: Client; ann: Client }> {
  const server = await serve({ schema, config });
  const key = client(server, await apiKey(server, "project:backend"));
  const ann = client(server, (await member(server, "ann")).bearer);
  return { server, key, ann };
}

async function erase(server: TestServer, table: string, key: string) {
  return eraseHistory(server.database, (await loadSchemaInForce(server.database))!, table, key);
}

const state = async (key: Client, table: string, at: number) =>
  dataOf(await key.get(`/api/${table}/_svc/state?at=${at}`));

async function versions(key: Client, table: string): Promise<unknown> {
  const found = dataOf(await key.get(`/api/${table}/_svc/history`)) as unknown as Record<string, unknown>[];
  return found.map(({ seq, op, row }) => [seq, op, row]);
}

async function pull(caller: Client, table: string, checkpoint: string | null) {
  const answer = await caller.post("/api/_svc/pull", { tables: { [table]: {} }, checkpoint });
  return dataOf(answer) as {
    readonly checkpoint: string;
    readonly reset: string | null;
    readonly changes: unknown;
  };
}

test("of a row that is there, the log keeps that it is, and everything of others", async () => {
  const { server, key } = await rooms();
  await key.post("/api/notes", { id: 1, body: "secret" });
  await key.post("/api/notes", { id: 2, body: "a" });
  await key.patch("/api/notes/1", { body: "more secret" });
  await key.patch("/api/notes/2", { body: "b" });
  await key.patch("/api/notes/1", { body: "plain" });
  const two = { id: 2, body: "b" };
  expect(await erase(server, "notes", "1")).toEqual({ entries: 3 });
  expect(await versions(key, "notes")).toEqual([
    [5, "insert", { id: 1, body: "plain" }],
    [4, "update", two],
    [2, "insert", { ...two, body: "a" }],
  ]);
  expect(await state(key, "notes", 2)).toEqual([{ ...two, body: "a" }]);
  expect(await state(key, "notes", 4)).toEqual([two]);
  expect(await state(key, "notes", 5)).toEqual([{ id: 1, body: "plain" }, two]);
  expect(await rowsOf(server, "SELECT seq, old FROM _changes WHERE old LIKE '%secret%'")).toEqual([]);
  expect(await countOf(server, "_transactions")).toBe(3);
  expect(await erase(server, "notes", "1")).toMatchObject({ code: "not_found" });
  await key.patch("/api/notes/1", { body: "later" });
  expect(await state(key, "notes", 5)).toEqual([{ id: 1, body: "plain" }, two]);
  expect(await state(key, "notes", 4)).toEqual([two]);
});

test("of a row that is gone nothing stays but the number of the newest entry of all", async () => {
  const { server, key } = await rooms();
  await key.post("/api/rooms", { id: 9 });
  await key.post("/api/notes", { id: 1, body: "secret" });
  const { checkpoint } = await pull(key, "rooms", null);
  await key.delete("/api/notes/1");
  const current = await pull(key, "rooms", checkpoint);
  const [[witness]] = (await rowsOf(server, "SELECT witness FROM _changes WHERE seq = 3")) as [[number]];
  expect(await erase(server, "notes", '{"id":1}')).toEqual({ entries: 2 });
  expect(await rowsOf(server, "SELECT seq, witness, tbl, pk, op, old FROM _changes WHERE seq > 1")).toEqual([
    [3, witness, "", "", "", null],
  ]);
  expect(await versions(key, "notes")).toEqual([]);
  expect(await state(key, "notes", 2)).toEqual([]);
  // Who follows another table goes on from there.
  expect(await pull(key, "rooms", current.checkpoint)).toMatchObject({ reset: null, changes: [] });
  await key.post("/api/rooms", { id: 10 });
  expect(await pull(key, "rooms", current.checkpoint)).toMatchObject({
    reset: null,
    changes: [{ op: "insert", key: { id: 10 } }],
  });
});

test("whoever has a copy of the table's rows fetches them anew, once", async () => {
  const { server, key, ann } = await rooms();
  await key.post("/api/rooms", { id: 1, owner: "ann" });
  await key.post("/api/rooms", { id: 2, owner: "ann" });
  await key.post("/api/notes", { id: 1, body: "a" });
  await key.post("/api/notes", { id: 2, body: "b" });
  const before = await pull(ann, "rooms", null);
  const notes = await pull(ann, "notes", null);
  // A removal that the log tells no more.
  await key.patch("/api/rooms/1", { owner: "ben" });
  await erase(server, "rooms", "1");
  const two = { table: "rooms", op: "insert", key: { id: 2 }, row: { id: 2, owner: "ann" } };
  const anew = await pull(ann, "rooms", before.checkpoint);
  expect(anew).toMatchObject({ reset: "rules", changes: [two] });
  expect(await pull(ann, "rooms", anew.checkpoint)).toMatchObject({ reset: null, changes: [] });
  // The rule of the notes looks into the rooms.
  const anewNotes = await pull(ann, "notes", notes.checkpoint);
  expect(anewNotes).toMatchObject({ reset: "rules", changes: [{ key: { id: 2 } }] });
  // Another erasure is another reason.
  await key.patch("/api/rooms/2", { owner: "ben" });
  await erase(server, "rooms", "2");
  expect(await pull(ann, "rooms", anew.checkpoint)).toMatchObject({ reset: "rules", changes: [] });
});

test("transactions go whose entries were all erased, others stay", async () => {
  const { server, key } = await rooms();
  await key.post("/api/notes", { id: 1, body: "a" });
  await run(
    server,
    "CREATE TRIGGER both AFTER UPDATE ON notes WHEN new.id = 1 BEGIN UPDATE notes SET body = new.body WHERE id = 2; END",
  );
  await key.post("/api/notes", { id: 2, body: "a" });
  await key.patch("/api/notes/1", { body: "b" });
  await key.delete("/api/notes/1");
  await key.patch("/api/notes/2", { body: "c" });
  expect(await countOf(server, "_transactions")).toBe(5);
  expect(await erase(server, "notes", "1")).toEqual({ entries: 3 });
  expect(await rowsOf(server, "SELECT id FROM _transactions ORDER BY id")).toEqual([[2], [3], [5]]);
});

test("a key has all its columns; one that compares as equal is the same row", async () => {
  const { server, key } = await rooms();
  await key.post("/api/doors", { a: "x", b: "AP8=", n: 1 });
  await key.post("/api/doors", { a: "x", b: "AA==", n: 1 });
  expect(await erase(server, "doors", "x")).toMatchObject({ code: "bad_request" });
  expect(await erase(server, "doors", '{"a":"x"}')).toMatchObject({ code: "bad_request" });
  expect(await erase(server, "doors", '{"a":"x","b":"AP8=","n":1}')).toMatchObject({ code: "bad_request" });
  // It has been inserted alone, and is there.
  expect(await erase(server, "doors", '{"a":"x","b":"AP8="}')).toMatchObject({ code: "not_found" });
  await run(server, "DELETE FROM doors");
  expect(await erase(server, "doors", '{"b":"AP8=","a":"x"}')).toEqual({ entries: 2 });
  expect(await rowsOf(server, "SELECT op FROM _changes WHERE tbl = 'doors' ORDER BY seq")).toEqual([
    ["insert"],
    ["delete"],
  ]);
});

test("tables without history, unknown ones and values that are no key are refused", async () => {
  const { server, key } = await rooms();
  await key.post("/api/notes", { id: 1, body: "a" });
  expect(await erase(server, "plain", "1")).toMatchObject({ code: "not_found" });
  expect(await erase(server, "nothing", "1")).toMatchObject({ code: "not_found" });
  expect(await erase(server, "notes", "one")).toMatchObject({ code: "bad_request" });
  expect(await erase(server, "notes", "2")).toMatchObject({ code: "not_found" });
});
