import { expect, test, vi } from "vitest";
import { type Client, client, dataOf, expectRefusal, metaOf } from "../../support/client.js";
import { Events } from "../../support/events.js";
import { switchboard } from "../../support/faulty-database.js";
import { patiently } from "../../support/patience.js";
import { member, run } from "../../support/people.js";
import { apiKey, inWorkerd, onFile, serve, type TestServer } from "../../support/server.js";

const schema = `
$history: forever
rooms: { columns: { id: { type: integer, primary_key: true }, open: { type: boolean, not_null: true } } }
members:
  primary_key: [room_id, user_id]
  columns: { room_id: { type: integer, references: { table: rooms, on_delete: cascade } }, user_id: { type: text } }
messages:
  columns:
    id: { type: integer, primary_key: true }
    room_id: { type: integer, references: { table: rooms, on_delete: cascade } }
    body: { type: text }
  indexes: [{ columns: [room_id] }]
`;
const config = `
[rules.messages]
read = "exists(rooms r where r.id = row.room_id and r.open) or exists(members m where m.room_id = row.room_id and m.user_id = auth.id)"
`;
const messages = { tables: { messages: {} } };

interface World {
  readonly server: TestServer;
  readonly key: Client;
  readonly ann: { readonly Authorization: string };
}

async function world(settings = ""): Promise<World> {
  const server = await serve({ schema, config: settings + config });
  const key = client(server, await apiKey(server, "project:backend"));
  await key.post("/api/rooms", { id: 1, open: false });
  await key.post("/api/members", { room_id: 1, user_id: "ann" });
  await key.post("/api/messages", { id: 1, room_id: 1, body: "first" });
  return { server, key, ann: (await member(server, "ann")).bearer };
}

async function stream(
  server: TestServer,
  headers: Record<string, string>,
  asked: object = messages,
  more: Record<string, string> = {},
): Promise<Events> {
  const path = `/api/_svc/live?q=${encodeURIComponent(JSON.stringify(asked))}`;
  return new Events(await server.request(path, { headers: { ...headers, ...more } }));
}

const message = (id: number, body: string, room_id = 1) => ({
  table: "messages",
  op: "insert",
  key: { id },
  row: { id, room_id, body },
});

test("a stream tells what is there, and then what changes, by request, by another program and by a relation", async () => {
  const { server, key, ann } = await world();
  const events = await stream(server, ann);
  expect(await events.changes()).toEqual([message(1, "first")]);
  await key.post("/api/messages", { id: 2, room_id: 1, body: "second" });
  expect(await events.changes()).toEqual([message(2, "second")]);
  await run(server, "UPDATE messages SET body = 'other' WHERE id = 2");
  expect(await events.changes()).toEqual([{ ...message(2, "other"), op: "update" }]);
  await key.delete("/api/members/_svc/key?room_id=1&user_id=ann");
  const removed = (id: number) => ({ table: "messages", op: "remove", key: { id } });
  expect(await events.changes()).toEqual([removed(1), removed(2)]);
  // Nothing comes of what the caller may not see.
  await key.patch("/api/messages/1", { body: "hidden" });
  await key.patch("/api/rooms/1", { open: true });
  expect(await events.changes()).toEqual([message(1, "hidden"), message(2, "other")]);
});

test("a client that comes back goes on from the last whole state", async () => {
  const { server, key, ann } = await world();
  const events = await stream(server, ann);
  await events.changes();
  const { lastId } = events;
  await events.cancel();
  await key.post("/api/messages", { id: 2, room_id: 1, body: "missed" });
  const again = await stream(server, ann, messages, { "Last-Event-ID": lastId! });
  expect(await again.changes()).toEqual([message(2, "missed")]);
  // The header is of more weight than the body.
  const other = await stream(server, ann, { ...messages, checkpoint: again.lastId }, { "Last-Event-ID": lastId! });
  expect(await other.changes()).toEqual([message(2, "missed")]);
  // Several pages are told, and an id comes with the last.
  const paged = await stream(server, ann, { ...messages, limit: 1 });
  const first = await paged.next();
  expect(first).toMatchObject({ id: null, data: { changes: [message(1, "first")], more: true } });
  expect(await paged.next()).toMatchObject({
    id: expect.any(String),
    data: { changes: [message(2, "missed")] },
  });
  // A checkpoint that cannot be gone on from is said to be so.
  const backend = await apiKey(server, "project:backend");
  const reset = await stream(server, backend, messages, { "Last-Event-ID": lastId! });
  expect(await reset.next()).toMatchObject({ event: "reset", data: { reason: "identity" } });
  expect(await reset.changes()).toHaveLength(2);
});

test("a state of several pages is said to be whole, though its last page is empty", async () => {
  const { server, ann } = await world("api.scan_limit = 2");
  const events = await stream(server, ann);
  await events.changes();
  await run(server, "INSERT INTO messages VALUES (2, 1, 'a'), (3, 1, 'b')");
  expect(await events.next()).toMatchObject({
    id: null,
    data: { changes: [message(2, "a"), message(3, "b")], more: true },
  });
  expect(await events.next()).toMatchObject({ id: expect.any(String), data: { changes: [], more: false } });
});

test("from now on, nothing that is there is told", async () => {
  const { server, key, ann } = await world();
  const events = await stream(server, ann, { ...messages, from: "now" });
  expect(await events.changes()).toEqual([]);
  await key.post("/api/messages", { id: 2, room_id: 1, body: "new" });
  expect(await events.changes()).toEqual([message(2, "new")]);
});

test("nothing more is told to a session that has ended, a disabled user or a revoked key", async () => {
  const { server, key, ann } = await world();
  const bye = { event: "bye", data: { reason: "auth_expired" } };
  const events = await stream(server, ann);
  await events.changes();
  await key.post("/admin/api/users/ann/revoke-sessions", {});
  await key.post("/api/messages", { id: 2, room_id: 1, body: "secret" });
  expect(await events.next()).toMatchObject(bye);
  expect(await events.next()).toBeNull();

  const { bearer } = await member(server, "ben");
  await run(server, "INSERT INTO members VALUES (1, 'ben')");
  const ofBen = await stream(server, bearer);
  await ofBen.changes();
  expect((await key.patch("/admin/api/users/ben", { disabled: true })).status).toBe(200);
  await key.post("/api/messages", { id: 4, room_id: 1, body: "secret" });
  expect(await ofBen.next()).toMatchObject(bye);
  expect(await ofBen.next()).toBeNull();

  const reader = await apiKey(server, "resource:messages:read");
  const ofKey = await stream(server, reader);
  await ofKey.changes();
  await run(server, "UPDATE _service_keys SET revoked_at = 1 WHERE scopes LIKE '%messages%'");
  await key.post("/api/messages", { id: 3, room_id: 1, body: "secret" });
  expect(await ofKey.next()).toMatchObject(bye);
  expect(await ofKey.next()).toBeNull();
});

test("a stream goes on where the database had no room or no time for a look", async () => {
  const board = switchboard();
  const server = await serve({ schema, config: 'rules.messages.read = "public"', wrap: board.wrap });
  const events = await stream(server, {});
  expect(await events.changes()).toEqual([]);
  let failures = 0;
  board.failing = (statements) => statements.some(({ sql }) => sql.includes("first_c")) && ++failures < 3;
  await server.database.batch([
    { sql: "INSERT INTO rooms VALUES (1, 0)", params: [] },
    { sql: "INSERT INTO messages VALUES (1, 1, 'first')", params: [] },
  ]);
  expect(await events.changes()).toEqual([message(1, "first")]);
  expect(failures).toBe(3);
});

test("a pull that waits answers when something changes that the caller may see", async () => {
  const { server, key, ann } = await world();
  const caller = client(server, ann);
  const pull = (body: object) => caller.post("/api/_svc/pull", { ...messages, ...body });
  const { checkpoint } = dataOf(await pull({})) as unknown as { checkpoint: string };
  const waiting = pull({ checkpoint, wait_ms: 20_000 });
  await key.post("/api/rooms", { id: 2, open: false });
  await key.post("/api/messages", { id: 8, room_id: 2, body: "not for ann" });
  await key.post("/api/messages", { id: 2, room_id: 1, body: "for ann" });
  expect(dataOf(await waiting)).toMatchObject({ changes: [message(2, "for ann")] });
  expect(dataOf(await pull({ checkpoint, wait_ms: 20_000 }))).toMatchObject({
    changes: [message(2, "for ann")],
  });
  const quiet = dataOf(await pull({})) as unknown as { checkpoint: string };
  expect(dataOf(await pull({ checkpoint: quiet.checkpoint, wait_ms: 1 }))).toMatchObject({ changes: [] });
  expectRefusal(await pull({ wait_ms: 25_001 }), 400, "bad_request");
});

test("who reads slowly gets later states, and not one for each commit, and in the end the rows", async () => {
  const { server, ann } = await world();
  await run(server, "INSERT INTO messages SELECT value, 1, 'x' FROM json_each('[2,3,4,5,6,7,8,9,10]')");
  const events = await stream(server, ann);
  expect(await events.changes()).toHaveLength(10);
  const others = JSON.stringify(Array.from({ length: 245 }, (_, i) => 1000 + i));
  // 10,000 changes in 60 commits, of which the reader takes none meanwhile.
  for (let i = 1; i <= 20; i++) {
    await run(server, "INSERT INTO messages SELECT value, 1, 'other' FROM json_each(?)", others);
    await run(server, "DELETE FROM messages WHERE id >= 1000");
    await run(server, "UPDATE messages SET body = ?", `state ${i}`);
  }
  const rows = new Map(Array.from({ length: 10 }, (_, i) => [i + 1, "x"]));
  let states = 0;
  while (rows.size !== 10 || [...rows.values()].some((body) => body !== "state 20")) {
    states++;
    for (const { op, key, row } of (await events.changes()) as ReturnType<typeof message>[])
      if (op === "remove") rows.delete(key.id);
      else rows.set(key.id, row.body);
  }
  // Over a connection, what fits into its buffers is sent ahead.
  if (!inWorkerd && !onFile) expect(states).toBe(1);
  expect(states).toBeLessThanOrEqual(60);
});

test("a session has ten streams at most, and one that ends makes room", async () => {
  const { server, ann } = await world();
  const open: Events[] = [];
  for (let i = 0; i < 10; i++) open.push(await stream(server, ann, { ...messages, from: "now" }));
  const path = `/api/_svc/live?q=${encodeURIComponent(JSON.stringify(messages))}`;
  expectRefusal(await client(server, ann).get(path), 429, "rate_limited");
  await open[0]!.changes();
  await open[0]!.cancel();
  // A Worker may not be told that a client has gone. There a place ends with the time that a stream has.
  if (inWorkerd) server.clock.advance(240_000);
  expect(await (await stream(server, ann)).changes()).toEqual([message(1, "first")]);
});

test("a pull that waits has a place as a stream has", async () => {
  const { server, key, ann } = await world();
  const pull = (body: object) => client(server, ann).post("/api/_svc/pull", { ...messages, ...body });
  const { checkpoint } = dataOf(await pull({})) as unknown as { checkpoint: string };
  const waiting = Array.from({ length: 10 }, () => pull({ checkpoint, wait_ms: 20_000 }));
  await vi.waitFor(
    async () => expect((await key.get("/metrics")).text.split("\n")).toContain("svc_streams 10"),
    patiently,
  );
  const path = `/api/_svc/live?q=${encodeURIComponent(JSON.stringify(messages))}`;
  expectRefusal(await client(server, ann).get(path), 429, "rate_limited");
  expectRefusal(await pull({ checkpoint, wait_ms: 20_000 }), 429, "rate_limited");
  // One that does not have to wait needs none.
  expect(dataOf(await pull({ checkpoint }))).toMatchObject({ changes: [] });
  await key.post("/api/messages", { id: 2, room_id: 1, body: "new" });
  for (const answer of await Promise.all(waiting))
    expect(dataOf(answer)).toMatchObject({ changes: [message(2, "new")] });
  expect(dataOf(await pull({ checkpoint: null, wait_ms: 20_000 }))).toMatchObject({ more: false });
  expect(await (await stream(server, ann)).changes()).toHaveLength(2);
});

test("what waits is asked for in few bytes, as it is kept and read again with each commit", async () => {
  const { server, ann } = await world();
  const caller = client(server, ann);
  const groups = Array.from({ length: 9 }, (_, group) => ({
    id: { in: Array.from({ length: 1000 }, (_, i) => 1_000_000 + group * 1000 + i) },
  }));
  const long = { tables: { messages: { filter: { $or: [{ id: { eq: 1 } }, ...groups] } } } };
  expect(dataOf(await caller.post("/api/_svc/pull", long))).toMatchObject({ changes: [message(1, "first")] });
  expectRefusal(await caller.post("/api/_svc/pull", { ...long, wait_ms: 1 }), 413, "payload_too_large");
  expectRefusal(await caller.post("/api/_svc/live", long), 413, "payload_too_large");
  const q = encodeURIComponent(JSON.stringify(long));
  expectRefusal(await caller.get(`/api/_svc/live?q=${q}`), 413, "payload_too_large");
});

test("a first copy reads as many rows as a list, none where nothing has changed, and else it is not known", async () => {
  const { server, ann } = await world();
  const pull = (body: object) => client(server, ann).post("/api/_svc/pull", { ...messages, ...body });
  const first = await pull({});
  const list = metaOf(await client(server, ann).get("/api/messages?total=none&limit=500"));
  expect(metaOf(first)).toMatchObject({ rows_read: list.rows_read, rows_written: 0, rows_returned: 1 });
  const { checkpoint } = dataOf(first) as unknown as { checkpoint: string };
  expect(metaOf(await pull({ checkpoint }))).toMatchObject({ rows_read: 0, rows_returned: 0 });
  await run(server, "UPDATE messages SET body = 'changed'");
  expect(metaOf(await pull({ checkpoint }))).toMatchObject({ rows_read: null, rows_returned: 1 });
});

test("the metrics tell how many streams are open, what they were sent and which resets there were", async () => {
  const { server, key, ann } = await world();
  const events = await stream(server, ann);
  await events.changes();
  const { lastId } = events;
  await key.post("/api/messages", { id: 2, room_id: 1, body: "second" });
  await events.changes();
  await key.post("/api/_svc/pull", { ...messages, checkpoint: lastId });
  const lines = (await key.get("/metrics")).text.split("\n");
  for (const line of ["svc_streams 1", 'svc_sync_resets_total{reason="identity"} 1']) expect(lines).toContain(line);
  const counted = (name: string) => Number(lines.find((line) => line.startsWith(`${name} `))!.split(" ")[1]);
  expect(counted("svc_stream_events_total")).toBe(2);
  expect(counted("svc_stream_wakes_total")).toBeGreaterThan(0);
});

test("what is no stream is refused before it begins", async () => {
  const { server, ann } = await world();
  const caller = client(server, ann);
  const asked = (q: string) => caller.get(`/api/_svc/live?q=${encodeURIComponent(q)}`);
  expectRefusal(await caller.get("/api/_svc/live"), 400, "bad_request");
  expectRefusal(await asked("{"), 400, "bad_request");
  expectRefusal(await asked("[]"), 400, "bad_request");
  expectRefusal(await asked(JSON.stringify({ ...messages, from: "then" })), 400, "bad_request");
  expectRefusal(await asked(JSON.stringify({ ...messages, wait_ms: 5 })), 400, "bad_request");
  expectRefusal(await asked(JSON.stringify({ tables: { nothing: {} } })), 404, "not_found");
  expectRefusal(await asked(JSON.stringify({ tables: { members: {} } })), 403, "forbidden");
  expectRefusal(await client(server, { Authorization: "Bearer x" }).get("/api/_svc/live?q={}"), 401, "unauthorized");
});
