import { expect, test } from "vitest";
import { applyChange } from "../../../src/schema/apply.js";
import { type Client, client, dataOf, expectRefusal } from "../../support/client.js";
import { accessTokenOf, countOf, member, rowsOf, run } from "../../support/people.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";

const schema = `
rooms:
  history: 2d
  columns:
    id: { type: integer, primary_key: true }
    owner: { type: text }
notes:
  history: forever
  columns:
    id: { type: integer, primary_key: true }
`;
const config = `
usage.enabled = false
[rules.rooms]
read = "row.owner = auth.id or auth.role = 'admin'"
[rules.notes]
read = "public"
`;
const hourMs = 3_600_000;

async function rooms(): Promise<{ server: TestServer; key: Client; ann: Client; ben: Client }> {
  const server = await serve({ schema, config });
  const key = client(server, await apiKey(server, "project:backend"));
  const [ann, ben] = await Promise.all(
    ["ann", "ben"].map(async (id) => client(server, (await member(server, id)).bearer)),
  );
  return { server, key, ann: ann!, ben: ben! };
}

interface Pulled {
  readonly checkpoint: string;
  readonly more: boolean;
  readonly reset: string | null;
  readonly changes: readonly unknown[];
}

async function pull(caller: Client, checkpoint: string | null, more: object = {}): Promise<Pulled> {
  return dataOf(
    await caller.post("/api/_svc/pull", { tables: { rooms: {} }, checkpoint, ...more }),
  ) as unknown as Pulled;
}

const room = (id: number, owner = "ann") => ({
  table: "rooms",
  op: "insert",
  key: { id },
  row: { id, owner },
});

test("entries go after their time, but the newest one, and their transactions with them", async () => {
  const { server, key } = await rooms();
  await key.post("/api/rooms", { id: 1, owner: "ann" });
  await key.post("/api/notes", { id: 1 });
  server.clock.advance(47 * hourMs);
  await key.patch("/api/rooms/1", { owner: "ben" });
  await server.upkeep.purge();
  expect(await countOf(server, "_changes")).toBe(3);
  server.clock.advance(2 * hourMs);
  await server.upkeep.purge();
  // The note is kept for ever, and the change of the room is younger.
  expect(await rowsOf(server, "SELECT seq, tbl FROM _changes ORDER BY seq")).toEqual([
    [2, "notes"],
    [3, "rooms"],
  ]);
  expect(await countOf(server, "_transactions")).toBe(2);
  expectRefusal(await key.get("/api/rooms/_svc/state?at=0"), 410, "gone");
  expect(dataOf(await key.get("/api/rooms/_svc/state?at=1"))).toEqual([{ id: 1, owner: "ann" }]);
  expect(dataOf(await key.get("/api/notes/_svc/state?at=0"))).toEqual([]);
  server.clock.advance(100 * hourMs);
  await server.upkeep.purge();
  expect(await rowsOf(server, "SELECT seq, tbl FROM _changes ORDER BY seq")).toEqual([
    [2, "notes"],
    [3, "rooms"],
  ]);
  await key.post("/api/notes", { id: 2 });
  await server.upkeep.purge();
  expect(await rowsOf(server, "SELECT seq, tbl FROM _changes ORDER BY seq")).toEqual([
    [2, "notes"],
    [4, "notes"],
  ]);
});

test("a checkpoint that the log does not reach back to begins anew, once", async () => {
  const { server, key, ann } = await rooms();
  await key.post("/api/rooms", { id: 1, owner: "ann" });
  const { checkpoint } = await pull(ann, null);
  await key.post("/api/rooms", { id: 2, owner: "ann" });
  await key.post("/api/rooms", { id: 3, owner: "ben" });
  server.clock.advance(49 * hourMs);
  await key.post("/api/rooms", { id: 4, owner: "ann" });
  await server.upkeep.purge();
  const later = await again(server);
  const first = await pull(later, checkpoint, { limit: 2 });
  expect(first).toMatchObject({ reset: "retention", more: true, changes: [room(1), room(2)] });
  const second = await pull(later, first.checkpoint, { limit: 2 });
  expect(second).toMatchObject({ reset: null, more: false, changes: [room(4)] });
  expect(await pull(later, second.checkpoint)).toMatchObject({ reset: null, more: false, changes: [] });
});

test("the newest entry is kept, so that a client of a quiet table goes on from where it was", async () => {
  const { server, key, ann } = await rooms();
  await key.post("/api/rooms", { id: 1, owner: "ann" });
  const { checkpoint } = await pull(ann, null);
  server.clock.advance(500 * hourMs);
  await server.upkeep.purge();
  expect(await pull(await again(server), checkpoint)).toMatchObject({ reset: null, changes: [] });
});

/** Ann with a new access token, as the one before has expired, or with another role. */
async function again(server: TestServer, role = "user"): Promise<Client> {
  const accessToken = await accessTokenOf(server, "ann", { claims: { role } });
  return client(server, { Authorization: `Bearer ${accessToken}` });
}

test("a checkpoint of another caller, or of a caller with another role, begins anew", async () => {
  const { server, key, ann, ben } = await rooms();
  await key.post("/api/rooms", { id: 1, owner: "ann" });
  const { checkpoint } = await pull(ann, null);
  expect(await pull(ben, checkpoint)).toMatchObject({ reset: "identity", changes: [] });
  expect(await pull(key, checkpoint)).toMatchObject({ reset: "identity", changes: [room(1)] });
  expect(await pull(ann, checkpoint)).toMatchObject({ reset: null });
  await run(server, "UPDATE _users SET role = 'admin' WHERE id = 'ann'");
  expect(await pull(await again(server, "admin"), checkpoint)).toMatchObject({ reset: "identity" });
});

test("another schema begins anew; other filters and columns are told whole as members that began", async () => {
  const { server, key, ann } = await rooms();
  await key.post("/api/rooms", { id: 1, owner: "ann" });
  const { checkpoint } = await pull(ann, null);
  const asked = (terms: object) => pull(ann, checkpoint, { tables: { rooms: terms } });
  const fresh = { reset: null, fresh: ["rooms"] };
  expect(await asked({ filter: { id: { gt: 0 } } })).toMatchObject({ ...fresh, changes: [room(1)] });
  expect(await asked({ select: ["id"] })).toMatchObject(fresh);
  expect(await asked({})).toMatchObject({ reset: null, changes: [] });
  const filtered = await pull(ann, null, { tables: { rooms: { where: { id: 1 } } } });
  const other = { tables: { rooms: { where: { id: 2 } } } };
  expect(await pull(ann, filtered.checkpoint, other)).toMatchObject({ ...fresh, changes: [] });
  // An index changes nothing for a client, a column does.
  const apply = (text: string) => applyChange(server.database, text, { allowDestructive: false, now: 1 });
  expect(await apply(schema.replace("notes:", "  indexes: [{ columns: [owner] }]\nnotes:"))).toMatchObject({
    outcome: "applied",
  });
  expect(await asked({})).toMatchObject({ reset: null });
  expect(await apply(schema.replace("    owner:", "    name: { type: text }\n    owner:"))).toMatchObject({
    outcome: "applied",
  });
  const anew = await asked({});
  expect(anew).toMatchObject({ reset: "rules" });
  expect(anew.changes).toEqual([{ ...room(1), row: { id: 1, name: null, owner: "ann" } }]);
  expect(await pull(ann, anew.checkpoint)).toMatchObject({ reset: null, changes: [] });
});

test("a database that was restored from a copy begins anew, whether it is behind or was written further", async () => {
  const { server, key, ann } = await rooms();
  await key.post("/api/rooms", { id: 1, owner: "ann" });
  const copy = await rowsOf(server, "SELECT seq, CAST(witness AS TEXT) AS witness FROM _changes");
  await key.post("/api/rooms", { id: 2, owner: "ann" });
  const { checkpoint } = await pull(ann, null);
  // What a copy of before has: the log and the table without the second room.
  await run(server, "DELETE FROM rooms WHERE id = 2");
  await run(server, "DELETE FROM _changes WHERE seq > 1");
  expect(await rowsOf(server, "SELECT seq, CAST(witness AS TEXT) AS witness FROM _changes")).toEqual(copy);
  expect(await pull(ann, checkpoint)).toMatchObject({ reset: "restore", changes: [room(1)] });
  await key.post("/api/rooms", { id: 5, owner: "ann" });
  const anew = await pull(ann, checkpoint);
  expect(anew).toMatchObject({ reset: "restore", changes: [room(1), room(5)] });
  expect(await pull(ann, anew.checkpoint)).toMatchObject({ reset: null, changes: [] });
});

test("more entries than are gone through begin anew", async () => {
  const { server, key, ann } = await rooms();
  await key.post("/api/rooms", { id: 1, owner: "ann" });
  const { checkpoint } = await pull(ann, null);
  const log = (entries: number) =>
    run(
      server,
      `INSERT INTO _changes (witness, tbl, pk, op) SELECT 1, 'rooms', '[99]', 'update' FROM
        (WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT ${entries}) SELECT i FROM n)`,
    );
  await log(49_999);
  expect(await pull(ann, checkpoint)).toMatchObject({ reset: null, changes: [] });
  await log(2);
  expect(await pull(ann, checkpoint)).toMatchObject({ reset: "budget", changes: [room(1)] });
});

test("what is no checkpoint of this server, and what is no request, is refused", async () => {
  const { key, ann } = await rooms();
  const { checkpoint } = await pull(ann, null);
  const refused = async (body: object) => expectRefusal(await ann.post("/api/_svc/pull", body), 400, "bad_request");
  const tables = { rooms: {} };
  await refused({ tables, checkpoint: checkpoint.replace(/.(?=.{9}$)/, (last) => (last === "A" ? "B" : "A")) });
  await refused({ tables, checkpoint: "" });
  await refused({ tables, checkpoint: 5 });
  await refused({ tables, limit: 0 });
  await refused({ tables, limit: 1001 });
  await refused({ tables, limit: "5" });
  await refused({ tables, wait: 5 });
  await refused({ tables: {} });
  await refused({ tables: [] });
  await refused({});
  await refused({ tables: { rooms: { sort: ["id"] } } });
  await refused({ tables: { rooms: [] } });
  expect(await refused({ tables: { rooms: { filter: { nothing: { eq: 1 } } } } })).toContain("nothing");
  expectRefusal(await ann.post("/api/_svc/pull", { tables: { nothing: {} } }), 404, "not_found");
  expect((await ann.post("/api/_svc/pull", { tables: { _users: {} } })).status).toBe(404);
  expectRefusal(await ann.get("/api/_svc/pull"), 405, "method_not_allowed");
  expectRefusal(await ann.post("/api/_svc/nothing", {}), 404, "not_found");
  expect(await pull(key, null, { tables: { notes: {}, rooms: {} } })).toMatchObject({
    changes: [],
    more: false,
  });
});
