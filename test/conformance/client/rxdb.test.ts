import { createRxDatabase, type RxCollection } from "rxdb";
import { getRxStorageMemory } from "rxdb/plugins/storage-memory";
import { firstValueFrom } from "rxjs";
import { expect, onTestFinished, test } from "vitest";
import { clientIn } from "../../../src/client/client.js";
import type { SvcError } from "../../../src/client/index.js";
import { replicateSvc } from "../../../src/client/rxdb.js";
import { memoryStorage, surroundings } from "../../../src/client/surroundings.js";
import { client, dataOf } from "../../support/client.js";
import { member } from "../../support/people.js";
import { apiKey, serve } from "../../support/server.js";

const schema = `
$history: forever
notes:
  columns:
    id: { type: text, primary_key: true }
    body: { type: text }
    tags: { type: json }
    changed: { type: integer, managed: version }
tasks:
  columns:
    id: { type: integer, primary_key: true }
    title: { type: text }
    locked: { type: boolean, not_null: true, default: false }
members:
  primary_key: [room_id, user_id]
  columns: { room_id: { type: integer }, user_id: { type: text }, role: { type: text } }
`;
const all = ["read", "create", "delete"].map((action) => `${action} = "authenticated"`).join("\n");
const config = `
[rules.notes]
${all}
update = "authenticated"
[rules.tasks]
${all}
update = "not row.locked"
[rules.members]
${all}
update = "authenticated"
`;

const text = { type: "string", maxLength: 100 } as const;
const nullable = (type: string) => ({ type: [type, "null"] });
const collections = {
  notes: {
    primaryKey: "id",
    properties: { id: text, body: nullable("string"), tags: {}, changed: { type: "number" } },
  },
  tasks: {
    primaryKey: "id",
    properties: { id: text, title: nullable("string"), locked: { type: "boolean" } },
  },
  members: {
    primaryKey: { key: "pk", fields: ["room_id", "user_id"], separator: "|" },
    properties: { pk: text, room_id: { type: "number" }, user_id: text, role: nullable("string") },
  },
} as const;
type Name = keyof typeof collections;

const origin = "http://127.0.0.1:8787";

async function world() {
  const server = await serve({ schema, config });
  const key = client(server, await apiKey(server, "project:backend"));
  const ann = (await member(server, "ann")).bearer;
  const line = { answer: async (pass: () => Promise<Response>, _path: string) => pass() };
  const here = surroundings();
  const fetch: typeof globalThis.fetch = (input, init) => {
    const path = String(input).slice(origin.length);
    const headers = { ...(init!.headers as Record<string, string>), ...ann };
    return line.answer(() => server.request(path, { ...init, headers }), path);
  };
  // What is tried again is tried at once, so that no test waits.
  const after = (ms: number, act: () => void) => here.after(ms < 30_000 ? ms / 50 : ms, act);
  const api = clientIn<never>({ ...here, fetch, after }, { url: origin, storage: memoryStorage() });
  const database = await createRxDatabase({ name: `push-${Math.random()}`, storage: getRxStorageMemory() });
  onTestFinished(async () => void (await database.close()));
  const made = await database.addCollections(
    Object.fromEntries(
      Object.entries(collections).map(([name, each]) => [name, { schema: { version: 0, type: "object", ...each } }]),
    ) as never,
  );
  const replicate = async (name: Name, push = true) => {
    const collection = (made as Record<Name, RxCollection>)[name];
    const replication = replicateSvc({
      client: api,
      collection,
      table: name,
      replicationIdentifier: name,
      waitForLeadership: false,
      retryTime: 1,
      push,
    });
    await replication.awaitInitialReplication();
    return { collection, replication };
  };
  const rows = async (name: Name) => dataOf<Record<string, unknown>[]>(await key.get(`/api/${name}`));
  return { key, line, replicate, rows };
}

test("documents are created, changed and deleted as rows, with keys of every kind", async () => {
  const { key, replicate, rows } = await world();
  await key.post("/api/tasks", [
    { id: 1, title: "a" },
    { id: 2, title: "b" },
  ]);
  const notes = await replicate("notes");
  const tasks = await replicate("tasks");
  const members = await replicate("members");
  await notes.collection.bulkInsert([
    { id: "x", body: "one", tags: ["a"] },
    { id: "y", body: "two", tags: { deep: [1] } },
  ]);
  await (await tasks.collection.findOne("1").exec(true)).incrementalPatch({ title: "changed" });
  await (await tasks.collection.findOne("2").exec(true)).remove();
  await members.collection.bulkInsert([
    { room_id: 1, user_id: "u", role: "a" },
    { room_id: 2, user_id: "u", role: "b" },
  ]);
  for (const { replication } of [notes, tasks, members]) await replication.awaitInSync();
  await (await members.collection.findOne("1|u").exec(true)).incrementalPatch({ role: "c" });
  await (await members.collection.findOne("2|u").exec(true)).remove();
  await (await notes.collection.findOne("x").exec(true)).incrementalPatch({ body: "three", tags: null });
  // Before the server's row may have come.
  await (await notes.collection.findOne("y").exec(true)).incrementalRemove();
  for (const { replication } of [notes, members]) await replication.awaitInSync();
  expect(await rows("tasks")).toEqual([{ id: 1, title: "changed", locked: false }]);
  expect(await rows("members")).toEqual([{ room_id: 1, user_id: "u", role: "c" }]);
  expect(await rows("notes")).toEqual([{ id: "x", body: "three", tags: null, changed: expect.any(Number) }]);
});

test("what the server refuses is taken back and told, and what others changed stands", async () => {
  const { key, replicate, rows } = await world();
  await key.post("/api/tasks", [
    { id: 1, title: "a", locked: true },
    { id: 2, title: "b" },
    { id: 3, title: "c" },
  ]);
  const { collection, replication } = await replicate("tasks");
  const told = firstValueFrom(replication.error$);
  await (await collection.findOne("1").exec(true)).incrementalPatch({ title: "mine" });
  expect(((await told) as unknown as SvcError).code).toBe("forbidden");
  await replication.awaitInSync();
  const titles = async () => (await collection.find().exec()).map((each) => each.get("title"));
  expect(await titles()).toEqual(["a", "b", "c"]);

  await replication.pause();
  await key.patch("/api/tasks/2", { title: "theirs" });
  await key.delete("/api/tasks/3");
  await (await collection.findOne("2").exec(true)).incrementalPatch({ title: "mine" });
  await (await collection.findOne("3").exec(true)).incrementalPatch({ title: "mine" });
  await replication.start();
  replication.reSync();
  await replication.awaitInSync();
  expect(await titles()).toEqual(["a", "theirs"]);
  expect((await rows("tasks")).map(({ title }) => title)).toEqual(["a", "theirs"]);
});

test("pushes whose answers are lost are done once", async () => {
  const { line, replicate, rows } = await world();
  const { collection, replication } = await replicate("notes");
  let pushes = 0;
  line.answer = async (pass, path) => {
    const answer = await pass();
    if (path === "/api/_svc/push" && ++pushes % 3 !== 0) throw new TypeError("terminated");
    return answer;
  };
  for (let i = 0; i < 5; i++) {
    await collection.insert({ id: `n${i}`, body: "new" });
    await (await collection.findOne(`n${i}`).exec(true)).incrementalPatch({ body: `changed ${i}` });
  }
  await replication.awaitInSync();
  expect((await rows("notes")).map(({ body }) => body)).toEqual([0, 1, 2, 3, 4].map((i) => `changed ${i}`));
});

test("without push nothing is sent", async () => {
  const { replicate, rows } = await world();
  const { collection, replication } = await replicate("notes", false);
  await collection.insert({ id: "x", body: "mine" });
  await replication.awaitInSync();
  expect(await rows("notes")).toEqual([]);
});
