import { type Collection, createCollection, createLiveQueryCollection, eq } from "@tanstack/db";
import { expect, onTestFinished, test } from "vitest";
import { createClient, type LiveState, memoryStorage } from "../../../src/client/index.js";
import { type SvcCollectionOptions, svcCollectionOptions } from "../../../src/client/tanstack-db.js";
import { client } from "../../support/client.js";
import { member, run } from "../../support/people.js";
import { apiKey, serve, type TestServer } from "../../support/server.js";

const schema = `
$history: forever
rooms: { columns: { id: { type: integer, primary_key: true }, name: { type: text } } }
members:
  primary_key: [room_id, user_id]
  columns: { room_id: { type: integer, references: { table: rooms, on_delete: cascade } }, user_id: { type: text } }
messages:
  columns:
    id: { type: text, primary_key: true }
    room_id: { type: integer, references: { table: rooms, on_delete: cascade } }
    body: { type: text }
  indexes: [{ columns: [room_id] }]
plain: { history: none, columns: { id: { type: integer, primary_key: true } } }
`;
const isMember = (row: string) => `exists(members m where m.room_id = ${row}.room_id and m.user_id = auth.id)`;
const config = `
[rules.messages]
read = "${isMember("row")}"
create = "${isMember("new")}"
update = "${isMember("row")}"
delete = "${isMember("row")}"
[rules.members]
read = "row.user_id = auth.id"
[rules.plain]
read = "true"
`;

interface Message {
  readonly id: string;
  readonly room_id: number;
  readonly body: string;
}

const origin = "http://127.0.0.1:8787";

async function world() {
  const server = await serve({ schema, config });
  const key = client(server, await apiKey(server, "project:backend"));
  for (const id of [1, 2]) await key.post("/api/rooms", { id, name: `room ${id}` });
  await run(server, "INSERT INTO members VALUES (1, 'ann')");
  return { server, key, of: await collections(server) };
}

/** Makes collections of what Ann sees. */
async function collections(server: TestServer) {
  const ann = (await member(server, "ann")).bearer;
  const api = createClient({
    url: origin,
    storage: memoryStorage(),
    fetch: (input, init) =>
      server.request(String(input).slice(origin.length), {
        ...init,
        headers: { ...(init!.headers as Record<string, string>), ...ann },
      }),
  });
  return <Row extends object>(options: Omit<SvcCollectionOptions<Row>, "client">) => {
    const collection = createCollection<Row, string | number>(svcCollectionOptions<Row>({ client: api, ...options }));
    onTestFinished(() => collection.cleanup());
    return collection;
  };
}

/** Resolves when the collection holds the rows of these keys. */
function holds(collection: Collection<never, string | number>, keys: readonly (string | number)[]): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (collection.size !== keys.length || !keys.every((key) => collection.has(key))) return;
      subscription.unsubscribe();
      resolve();
    };
    // Without what is there, deletions of it would not be told.
    const subscription = collection.subscribeChanges(() => setImmediate(look), { includeInitialState: true });
  });
}

test("a collection follows the rows that its user sees, and queries over it follow, too", async () => {
  const { server, key, of } = await world();
  for (const id of ["a", "b"]) await key.post("/api/messages", { id, room_id: 1, body: id });
  await key.post("/api/messages", { id: "c", room_id: 2, body: "c" });
  const messages = of<Message>({ table: "messages" });
  const named = createLiveQueryCollection((query) =>
    query.from({ message: messages }).where(({ message }) => eq(message.body, "b")),
  );
  onTestFinished(() => named.cleanup());
  await messages.preload();
  await named.preload();
  expect([...messages.keys()].sort()).toEqual(["a", "b"]);
  expect(messages.get("a")).toMatchObject({ id: "a", room_id: 1, body: "a" });
  expect(named.size).toBe(1);
  await key.patch("/api/messages/a", { body: "b" });
  await key.delete("/api/messages/b");
  await holds(messages as never, ["a"]);
  expect([...named.values()]).toMatchObject([{ id: "a", body: "b" }]);
  await run(server, "INSERT INTO members VALUES (2, 'ann')");
  await holds(messages as never, ["a", "c"]);
  await run(server, "DELETE FROM members WHERE room_id = 1");
  await holds(messages as never, ["c"]);
  // What the log forgets is told anew.
  await run(server, "UPDATE _history SET floor = (SELECT max(seq) FROM _changes)");
  await run(server, "INSERT INTO messages VALUES ('d', 2, 'd')");
  await holds(messages as never, ["c", "d"]);

  const mine = of<{ room_id: number; user_id: string }>({ table: "members", key: ["room_id", "user_id"] });
  await mine.preload();
  expect([...mine.keys()]).toEqual(['[2,"ann"]']);
});

test("what is written shows at once, is the server's once it is told, and is taken back where it is refused", async () => {
  const { server, key, of } = await world();
  const messages = of<Message>({ table: "messages" });
  await messages.preload();
  const written = messages.insert({ id: "a", room_id: 1, body: "mine" });
  expect(messages.get("a")).toMatchObject({ body: "mine" });
  await written.isPersisted.promise;
  expect(messages.get("a")).toMatchObject({ body: "mine" });
  const read = async () => (await key.get("/api/messages")).body as { readonly data: readonly Message[] };
  expect((await read()).data).toEqual([{ id: "a", room_id: 1, body: "mine" }]);
  await messages.update("a", (draft) => {
    (draft as { body: string }).body = "changed";
  }).isPersisted.promise;
  expect((await read()).data).toEqual([{ id: "a", room_id: 1, body: "changed" }]);

  const refused = messages.insert({ id: "x", room_id: 2, body: "no member" });
  await expect(refused.isPersisted.promise).rejects.toMatchObject({ status: 403 });
  expect(messages.has("x")).toBe(false);
  await messages.delete("a").isPersisted.promise;
  expect((await read()).data).toEqual([]);
  expect(messages.size).toBe(0);
  await server.settled();
});

test("a table that cannot be followed says why", async () => {
  const { of } = await world();
  const states: LiveState[] = [];
  const plain = of<{ id: number }>({ table: "plain", onState: (state) => states.push(state) });
  await expect(plain.preload()).rejects.toThrow("it keeps no history");
  expect(states.at(-1)).toMatchObject({ status: "refused", error: { status: 400 } });
});
