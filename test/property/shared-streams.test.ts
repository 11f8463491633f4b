import { expect, test } from "vitest";
import type { Database, Statement } from "../../src/platform/database.js";
import { config, schema, shown, write } from "../conformance/changes/follow.js";
import { type Client, client } from "../support/client.js";
import { type Change, Copy, sorted } from "../support/copy.js";
import { Events } from "../support/events.js";
import { member, run } from "../support/people.js";
import { apiKey, serve, type TestServer } from "../support/server.js";
import { Random } from "./support/random.js";

/** A server that counts the statements that tell what has changed. */
async function counting(scanLimit: number): Promise<{ readonly server: TestServer; readonly told: () => number }> {
  let told = 0;
  const count = (statements: readonly Statement[]) => {
    told += statements.filter(({ sql }) => sql.includes("_p AS MATERIALIZED")).length;
  };
  const server = await serve(
    {
      schema,
      config: config(scanLimit),
      wrap: (database): Database => ({
        ...database,
        foreignKeysStayOn: database.foreignKeysStayOn,
        answerBytesMax: database.answerBytesMax,
        imageBytesMax: database.imageBytesMax,
        statementsMax: database.statementsMax,
        query: (statements, long) => {
          count(statements);
          return database.query(statements, long);
        },
        batch: (statements, long) => database.batch(statements, long),
        migrate: (statements, long) => database.migrate(statements, long),
        close: () => database.close(),
      }),
    },
    "app",
  );
  return { server, told: () => told };
}

async function open(server: TestServer, headers: Record<string, string>, tables: object): Promise<Events> {
  const asked = { tables, limit: 3 };
  return new Events(await server.request(`/api/_svc/live?q=${encodeURIComponent(JSON.stringify(asked))}`, { headers }));
}

test("streams that ask the same, and others between them, come to exactly the rows of their callers", {
  timeout: 1_200_000,
}, async () => {
  const random = new Random(Random.seedOfRun());
  const { server } = await counting(random.pick([3, 20, 100_000]));
  const key = await apiKey(server, "project:backend");
  const callers = [(await member(server, "ann")).bearer, (await member(server, "ben")).bearer, key];
  const tables = { messages: {}, rooms: {} };
  const filtered = { messages: { filter: { body: { ne: "b" } } }, rooms: {} };
  const streams = [];
  for (const headers of callers)
    for (const asked of [tables, tables, tables, filtered])
      streams.push({ headers, asked, copy: new Copy(), events: await open(server, headers, asked) });
  let isOver = false;
  const reading = streams.map(async ({ copy, events, headers, asked }) => {
    const caller: Client = client(server, headers);
    for (;;) {
      const event = await events.next();
      if (event!.event === "reset") throw new Error("a reset");
      copy.take(event!.data.changes as Change[], event!.id);
      if (!isOver || event!.id === null) continue;
      if (sorted(copy.whole).join() === sorted(await shown(caller, asked)).join()) return;
    }
  });
  for (let writes = 0; writes < 60; writes++) await write(server, client(server, key), random);
  isOver = true;
  // Something that each of them is told.
  await run(server, "INSERT INTO rooms (id, owner, open) VALUES (99, 'last', 1)");
  await Promise.all(reading);
});

test("a page that many streams are told is made once, for whomever it is the same", async () => {
  const { server, told } = await counting(100_000);
  const key = await apiKey(server, "project:backend");
  const other = await apiKey(server, "resource:rooms:read");
  const streams: Events[] = [];
  for (let i = 0; i < 40; i++) streams.push(await open(server, i % 2 === 0 ? key : other, { rooms: {} }));
  for (const events of streams) await events.changes();
  const before = told();
  await client(server, key).post("/api/rooms", { id: 1, owner: "ann", open: true });
  const changes = await Promise.all(streams.map((events) => events.changes()));
  for (const each of changes) expect(each).toEqual(changes[0]);
  expect(changes[0]).toMatchObject([{ op: "insert", key: { id: 1 } }]);
  expect(told() - before).toBe(1);

  // What rules read of the caller is in the view: two people are told each their own.
  await client(server, key).post("/api/notes", { id: 1, owner: "ann" });
  const people = await Promise.all(
    ["ann", "ben"].map(async (id) => open(server, (await member(server, id)).bearer, { notes: {} })),
  );
  const [ofAnn, ofBen] = await Promise.all(people.map((events) => events.changes()));
  expect(ofAnn).toHaveLength(1);
  expect(ofBen).toEqual([]);
});
