import { expect, test } from "vitest";
import { type Client, client, dataOf, expectRefusal, metaOf } from "../../support/client.js";
import { member, run } from "../../support/people.js";
import { apiKey, serve, signUpAdmin, type TestServer } from "../../support/server.js";

const schema = `
$history: forever
rooms: { columns: { id: { type: integer, primary_key: true } } }
members:
  primary_key: [room_id, user_id]
  columns: { room_id: { type: integer }, user_id: { type: text } }
messages:
  columns:
    id: { type: integer, primary_key: true }
    room_id: { type: integer, not_null: true, references: { table: rooms, on_delete: cascade } }
    author: { type: text }
    body: { type: text }
    secret: { type: text }
    size: { type: real }
    file: { type: blob }
tickets: { columns: { number: { type: integer, primary_key: true }, owner: { type: text }, text: { type: text } } }
plain: { history: none, columns: { id: { type: integer, primary_key: true } } }
`;
const config = `
[rules.messages]
read = "exists(members m where m.room_id = row.room_id and m.user_id = auth.id)"
create = "authenticated"
update = "row.author = auth.id"
history = "row.author = auth.id or auth.role = 'admin'"
[rules.messages.columns.id]
write = "authenticated"
[rules.messages.columns.secret]
read = "auth.role = 'admin'"
[rules.tickets]
read = "row.owner = auth.id"
history = "row.owner = auth.id"
[rules.tickets.columns.number]
read = "auth.role = 'admin'"
[rules.rooms]
read = "public"
[rules.plain]
read = "public"
`;

interface World {
  readonly server: TestServer;
  readonly key: Client;
  readonly ann: Client;
  readonly ben: Client;
}

async function world(): Promise<World> {
  const server = await serve({ schema, config });
  const key = client(server, await apiKey(server, "project:backend"));
  const [ann, ben] = await Promise.all(
    ["ann", "ben"].map(async (id) => client(server, (await member(server, id)).bearer)),
  );
  for (const id of [1, 2]) await key.post("/api/rooms", { id });
  for (const user_id of ["ann", "ben"]) await key.post("/api/members", { room_id: 1, user_id });
  return { server, key, ann: ann!, ben: ben! };
}

const versions = async (caller: Client, query = "") =>
  dataOf(await caller.get(`/api/messages/_svc/history${query}`)) as unknown as Record<string, unknown>[];

test("a row's versions say what, when and by whom, the newest first", async () => {
  const { server, key, ann } = await world();
  const began = server.clock.now();
  const message = { id: 7, room_id: 1, author: "ann", body: "a", size: 1 / 3, file: "AP8=" };
  expect((await ann.post("/api/messages", message)).status).toBe(201);
  server.clock.advance(1000);
  await ann.patch("/api/messages/7", { body: "b" });
  await run(server, "UPDATE messages SET secret = 's' WHERE id = 7");
  await run(server, "UPDATE messages SET body = 'b' WHERE id = 7");
  server.clock.advance(1000);
  await key.delete("/api/messages/7");
  const at = (ms: number) => new Date(began + ms).toISOString();
  const row = { ...message, secret: null };
  expect(await versions(key, "?where[id]=7")).toEqual([
    {
      seq: 8,
      at: at(2000),
      key: { id: 7 },
      op: "delete",
      by: { kind: "key", id: expect.any(String) },
      changed: null,
      row: null,
    },
    {
      seq: 7,
      at: expect.any(String),
      key: { id: 7 },
      op: "update",
      by: null,
      changed: ["secret"],
      row: { ...row, body: "b", secret: "s" },
    },
    {
      seq: 6,
      at: at(1000),
      key: { id: 7 },
      op: "update",
      by: { kind: "user", id: "ann" },
      changed: ["body"],
      row: { ...row, body: "b" },
    },
    { seq: 5, at: at(0), key: { id: 7 }, op: "insert", by: { kind: "user", id: "ann" }, changed: null, row },
  ]);
  const pages: unknown[] = [];
  let query = "?limit=1";
  for (;;) {
    const answer = await key.get(`/api/messages/_svc/history${query}`);
    pages.push(...(dataOf(answer) as unknown as { seq: number }[]).map(({ seq }) => seq));
    const cursor = metaOf(answer).next_cursor as string | undefined;
    if (cursor === undefined) break;
    query = `?cursor=${cursor}`;
  }
  expect(pages).toEqual([8, 7, 6, 5]);
  const seqs = async (bounds: string) => (await versions(key, `?where[id]=7&${bounds}`)).map(({ seq }) => seq);
  expect(await seqs("since=6&until=7")).toEqual([7, 6]);
  expect(await seqs(`until=${at(999)}`)).toEqual([5]);
  expect(await seqs(`since=${at(1000)}&until=${at(2000)}`)).toEqual([8, 7]);
  expect(await versions(key, "?where[id]=8")).toEqual([]);
});

test("a table whose key has the names of the bounds", async () => {
  const spans = `
spans:
  history: forever
  primary_key: [since, before]
  columns: { since: { type: integer }, before: { type: integer }, n: { type: integer } }`;
  const server = await serve({ schema: spans });
  const key = client(server, await apiKey(server, "project:backend"));
  await key.post("/api/spans", { since: 1, before: 2, n: 1 });
  await key.patch("/api/spans/_svc/key?since=1&before=2", { n: 2 });
  const made = await key.get("/api/spans/_svc/history?where[since]=1&where[before]=2");
  expect(dataOf<{ row: unknown }[]>(made).map(({ row }) => row)).toEqual([
    { since: 1, before: 2, n: 2 },
    { since: 1, before: 2, n: 1 },
  ]);
});

test("users see versions that the rules admit, now too, and their own name alone", async () => {
  const { server, key, ann, ben } = await world();
  await ann.post("/api/messages", { id: 1, room_id: 1, author: "ann", body: "by ann" });
  await key.patch("/api/messages/1", { secret: "x" });
  await key.patch("/api/messages/1", { body: "by a key" });
  const seen = await versions(ann);
  expect(seen).toMatchObject([
    { op: "update", by: null, changed: ["body"], row: { body: "by a key" } },
    { op: "insert", by: { kind: "user", id: "ann" }, row: { body: "by ann" } },
  ]);
  expect(JSON.stringify(seen)).not.toContain("secret");
  // Numbers would tell how much happens elsewhere. What stands for them is taken back.
  const { seq } = seen[1] as { seq: string };
  expect(seq).toEqual(expect.stringMatching(/^[\w-]{40,}$/));
  expect(await versions(ann, `?until=${seq}`)).toHaveLength(1);
  expectRefusal(await ben.get(`/api/messages/_svc/history?until=${seq}`), 400, "bad_request");
  expectRefusal(await ann.get("/api/messages/_svc/history?until=5"), 400, "bad_request");
  // Ben may read the message and is not its author.
  expect(await versions(ben)).toEqual([]);
  // A version that another one wrote stays hidden, also from who has the row now.
  await key.patch("/api/messages/1", { author: "ben" });
  expect(await versions(ann)).toEqual([]);
  expect(await versions(ben)).toMatchObject([{ op: "update", changed: ["author"] }]);
  await key.patch("/api/messages/1", { author: "ann" });
  await key.delete("/api/members/_svc/key?room_id=1&user_id=ann");
  expect(await versions(ann)).toEqual([]);
  await key.post("/api/members", { room_id: 1, user_id: "ann" });
  await key.delete("/api/messages/1");
  expect((await versions(ann)).map(({ op }) => op)).toEqual(["delete", "update", "update", "insert"]);
  const admin = client(server, (await signUpAdmin(server, "admin@example.com")).bearer);
  expect(await versions(admin)).toEqual([]);
});

test("a hidden column of the key is in no version", async () => {
  const { key, ann } = await world();
  await key.post("/api/tickets", { number: 4711, owner: "ann", text: "a" });
  const path = "/api/tickets/_svc/history";
  expect(dataOf(await ann.get(path))).toMatchObject([{ key: {}, row: { owner: "ann", text: "a" } }]);
  expect((await ann.get(path)).text).not.toContain("4711");
  expect(dataOf(await key.get(path))).toMatchObject([{ key: { number: 4711 } }]);
});

test("a deleted user's name is in no version", async () => {
  const { key, ann } = await world();
  await ann.post("/api/messages", { id: 1, room_id: 1, author: "ann", body: "a" });
  await key.delete("/admin/api/users/ann");
  expect(await versions(key)).toMatchObject([{ op: "insert", by: { kind: "user", id: null } }]);
});

test("a table as it was, under the same rules, with filters and pages", async () => {
  const { server, key, ann } = await world();
  for (const id of [1, 2, 3])
    await key.post("/api/messages", { id, room_id: 1, author: "ann", body: `a${id}`, secret: "s" });
  const moment = new Date(server.clock.now()).toISOString();
  server.clock.advance(1000);
  await key.patch("/api/messages/1", { body: "b" });
  await key.patch("/api/messages/2", { author: "ben" });
  await key.delete("/api/messages/3");
  const state = (query: string) => ann.get(`/api/messages/_svc/state?${query}`);
  const rows = async (query: string) => dataOf(await state(query));
  const was = (id: number) => ({ id, room_id: 1, author: "ann", body: `a${id}`, size: null, file: null });
  expect(await rows(`at=${moment}`)).toEqual([was(1), was(3)]);
  expect(await rows(`at=${moment}&where[body]=a3&select=id`)).toEqual([{ id: 3 }]);
  const first = await state(`at=${moment}&limit=1`);
  expect(dataOf(first)).toEqual([was(1)]);
  expect(await rows(`cursor=${metaOf(first).next_cursor}`)).toEqual([was(3)]);
  expect(await rows(`at=${(metaOf(first) as unknown as { seq: string }).seq}`)).toEqual([was(1), was(3)]);
  expectRefusal(await state(`at=${moment}&where[secret]=s`), 400, "bad_request");
  expectRefusal(await state(`at=${moment}&sort=id`), 400, "bad_request");
  expectRefusal(await state("at=yesterday"), 400, "bad_request");
  expectRefusal(await state(""), 400, "bad_request");
  expectRefusal(await state("at=2199-01-01"), 400, "bad_request");
  expectRefusal(await state("at=1999-01-01"), 410, "gone");
  expectRefusal(await state(`cursor=${metaOf(first).next_cursor}&limit=2`), 400, "invalid_cursor");
});

test("a time is taken with any number of digits and in every form of an offset", async () => {
  const { server, key } = await world();
  await key.post("/api/tickets", { number: 1, text: "a" });
  const made = new Date(server.clock.now()).toISOString().slice(0, -1);
  server.clock.advance(1);
  await key.patch("/api/tickets/1", { text: "b" });
  for (const rest of ["456%2B00:00", "9999999%2B0000", "999999999Z", "1%2B00", "456+00:00", "-00"]) {
    const of = async (query: string) => {
      const rows = dataOf<{ text?: string; row?: { text: string } }[]>(await key.get(`/api/tickets/_svc/${query}`));
      return rows.map(({ text, row }) => text ?? row!.text);
    };
    const time = made + rest;
    expect([rest, await of(`state?at=${time}`)]).toEqual([rest, ["a"]]);
    expect([rest, await of(`history?since=${time}`)]).toEqual([rest, ["b"]]);
    expect([rest, await of(`history?until=${time}`)]).toEqual([rest, ["a"]]);
  }
});

test("a time means all that was committed until then, also by a request that began before another one", async () => {
  const { server, key } = await world();
  await key.post("/api/tickets", { number: 1, text: "a" });
  server.clock.advance(5000);
  await key.patch("/api/tickets/1", { text: "b" });
  // As where a write had to wait for others: its request came before theirs.
  server.clock.advance(-2000);
  await key.patch("/api/tickets/1", { text: "c" });
  server.clock.advance(3000);
  const stateAt = async (ms: number) =>
    dataOf(await key.get(`/api/tickets/_svc/state?at=${new Date(server.clock.now() + ms).toISOString()}`));
  expect(await stateAt(0)).toMatchObject([{ text: "c" }]);
  expect(await stateAt(-2000)).toMatchObject([{ text: "a" }]);
});

test("a version is written back, as an update, or as a create where the row is gone", async () => {
  const { server, key, ann, ben } = await world();
  const message = { id: 1, room_id: 1, author: "ann", body: "a", size: 1 / 3, file: "AP8=" };
  await ann.post("/api/messages", message);
  await ann.patch("/api/messages/1", { body: "b", size: null });
  const [latest, first] = (await versions(ann)) as [{ seq: string }, { seq: string }];
  const restore = (caller: Client, seq: unknown, id = 1) =>
    caller.post("/api/messages/_svc/restore", { key: { id }, seq });
  expect(dataOf(await restore(ann, first.seq))).toEqual(message);
  expect((await versions(ann))[0]).toMatchObject({
    op: "update",
    changed: ["body", "size"],
    by: { id: "ann" },
  });
  await key.delete("/api/messages/1");
  expect(dataOf(await restore(ann, latest.seq))).toEqual({ ...message, body: "b", size: null });
  // A secret that ann may not read would be lost.
  await key.patch("/api/messages/1", { secret: "s" });
  const [withSecret] = (await versions(key)) as [{ seq: number }];
  await key.delete("/api/messages/1");
  const [ofDeletion] = (await versions(key)) as [{ seq: number }];
  const sealed = (await versions(ann)) as { op: string; seq: string }[];
  expectRefusal(await restore(ann, sealed.find(({ op }) => op === "delete")!.seq), 400, "bad_request");
  expectRefusal(await restore(key, ofDeletion.seq), 400, "bad_request");
  expect(dataOf(await restore(key, withSecret.seq))).toMatchObject({ body: "b", secret: "s" });
  await key.patch("/api/messages/1", { body: "c" });
  const [toldLast] = (await versions(ann)) as [{ seq: string }];
  await key.delete("/api/messages/1");
  expectRefusal(await restore(ann, toldLast.seq), 403, "forbidden");
  expectRefusal(await restore(ben, toldLast.seq), 400, "bad_request");
  expectRefusal(await restore(key, 999), 404, "not_found");
  expectRefusal(await restore(key, withSecret.seq, 2), 404, "not_found");
  expectRefusal(await restore(key, "2026-01-01"), 400, "bad_request");
  expectRefusal(await key.post("/api/messages/_svc/restore", { key: 1, seq: 999 }), 404, "not_found");
  expectRefusal(await key.post("/api/messages/_svc/restore", { key: true, seq: 1 }), 400, "bad_request");
  expectRefusal(await key.post("/api/messages/_svc/restore", { key: {}, seq: 1 }), 400, "bad_request");
  // A key that may not read writes back, and is shown nothing of what it never sent.
  const writer = client(server, await apiKey(server, "resource:messages:write"));
  expect(dataOf(await restore(writer, withSecret.seq))).toEqual({ id: 1 });
  expect(dataOf(await key.get("/api/messages/1"))).toMatchObject({ body: "b", secret: "s" });
  const reader = client(server, await apiKey(server, "resource:messages:read"));
  expectRefusal(await restore(reader, withSecret.seq), 403, "forbidden");
  expectRefusal(await restore(client(server), first.seq), 401, "unauthorized");
});

test("who may not, and what there is not", async () => {
  const { server, key, ann } = await world();
  const anonymous = client(server);
  for (const what of ["history", "state?at=0"]) {
    expectRefusal(await anonymous.get(`/api/messages/_svc/${what}`), 401, "unauthorized");
    // `rooms` can be read, and has no rule for its history.
    expectRefusal(await ann.get(`/api/rooms/_svc/${what}`), 403, "forbidden");
    expectRefusal(await ann.get(`/api/members/_svc/${what}`), 403, "forbidden");
    expect((await key.get(`/api/plain/_svc/${what}`)).status).toBe(404);
    const writer = client(server, await apiKey(server, "resource:messages:write"));
    expectRefusal(await writer.get(`/api/messages/_svc/${what}`), 403, "forbidden");
    expectRefusal(await key.post(`/api/messages/_svc/${what}`, {}), 405, "method_not_allowed");
  }
  expectRefusal(await key.get("/api/members/_svc/history?where[room_id]=1"), 400, "bad_request");
  expectRefusal(await key.get("/api/messages/_svc/history?where[body]=a"), 400, "bad_request");
  expectRefusal(await key.get("/api/messages/_svc/history?limit=0"), 400, "bad_request");
  expectRefusal(await key.get("/api/messages/_svc/history?sort=id"), 400, "bad_request");
});
