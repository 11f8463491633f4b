import { createRxDatabase, type RxCollection } from "rxdb";
import { getRxStorageMemory } from "rxdb/plugins/storage-memory";
import { combineLatest, filter, firstValueFrom, map, tap, timeout } from "rxjs";
import { expect, test } from "vitest";
import { createClient, memoryStorage } from "../../src/client/index.js";
import { replicateSvc } from "../../src/client/rxdb.js";
import { config, schema, shown, write } from "../conformance/changes/follow.js";
import { client } from "../support/client.js";
import type { Rows } from "../support/copy.js";
import { member, run } from "../support/people.js";
import { apiKey, serve } from "../support/server.js";
import { Random } from "./support/random.js";

const histories = Number(process.env.RXDB ?? 3);

const nullable = (type: string) => ({ type: [type, "null"] });
const text = { type: "string", maxLength: 100 } as const;
const schemas = {
  rooms: { primaryKey: "id", properties: { id: text, owner: nullable("string"), open: { type: "boolean" } } },
  members: {
    primaryKey: { key: "pk", fields: ["room_id", "user_id"], separator: "|" },
    properties: { pk: text, room_id: { type: "number" }, user_id: text },
  },
  messages: {
    primaryKey: "id",
    properties: {
      id: text,
      room_id: nullable("number"),
      author: nullable("string"),
      body: nullable("string"),
      secret: nullable("number"),
    },
  },
} as const;
type Table = keyof typeof schemas;
const names = Object.keys(schemas) as Table[];

const origin = "http://127.0.0.1:8787";

/** Rows as RxDB has them: keys are texts. */
const documentsOf = (rows: Rows): readonly string[] =>
  [...rows]
    .map(([id, row]) => {
      const table = id.split(" ")[0] as Table;
      const fields = row as Record<string, unknown>;
      const key = table === "members" ? { pk: `${fields.room_id}|${fields.user_id}` } : { id: String(fields.id) };
      return shape(table, { ...fields, ...key });
    })
    .sort();

/** A document as text, with its members in their order. */
const shape = (table: Table, fields: Record<string, unknown>) =>
  JSON.stringify([table, ...Object.keys(schemas[table].properties).map((name) => fields[name])]);

/** Resolves when the collections hold exactly these documents. */
async function untilTheyHold(collections: Record<string, RxCollection>, expected: readonly string[]): Promise<void> {
  const held = combineLatest(names.map((name) => collections[name]!.find().$)).pipe(
    map((found) => found.flatMap((each, i) => each.map((document) => shape(names[i]!, document.toJSON()))).sort()),
  );
  let last: readonly string[] = [];
  const isEqual = firstValueFrom(
    held.pipe(
      tap((documents) => {
        last = documents;
      }),
      filter((documents) => documents.join("\n") === expected.join("\n")),
      timeout(600_000),
    ),
  );
  await isEqual.catch(() => expect(last).toEqual(expected));
}

test("RxDB's own replication follows random histories to the rows that lists show", {
  timeout: 6_000_000,
}, async () => {
  const random = new Random(Random.seedOfRun());
  const server = await serve({ schema, config: config(random.pick([3, 20, 100_000])) }, "socket");
  const key = client(server, await apiKey(server, "project:backend"));
  const ann = (await member(server, "ann")).bearer;
  let documents = 0;
  for (let history = 0; history < histories; history++) {
    const database = await createRxDatabase({ name: `history-${history}`, storage: getRxStorageMemory() });
    const collections = await database.addCollections(
      Object.fromEntries(names.map((name) => [name, { schema: { version: 0, type: "object", ...schemas[name] } }])),
    );
    const api = createClient({
      url: origin,
      storage: memoryStorage(),
      fetch: (input, init) =>
        server.request(String(input).slice(origin.length), {
          ...init,
          headers: { ...(init!.headers as Record<string, string>), ...ann },
        }),
    });
    const replications = names.map((table) =>
      replicateSvc({
        client: api,
        collection: collections[table] as RxCollection<object>,
        table,
        replicationIdentifier: table,
        waitForLeadership: false,
        retryTime: 10,
        batchSize: random.pick([1, 3, 100]),
      }),
    );
    const errors: unknown[] = [];
    for (const { error$ } of replications) error$.subscribe((error) => errors.push(error));
    for (let round = 0; round < 15; round++) {
      for (let writes = random.int(1, 6); writes > 0; writes--) await write(server, key, random);
      // What the log forgets is told anew.
      if (random.chance(0.1))
        await run(server, "UPDATE _history SET floor = (SELECT ifnull(max(seq), 0) FROM _changes)");
      const expected = await shown(client(server, ann), Object.fromEntries(names.map((name) => [name, {}])));
      await untilTheyHold(collections, documentsOf(expected));
      documents += expected.size;
      if (random.chance(0.2)) for (const replication of replications) replication.reSync();
    }
    expect(errors).toEqual([]);
    await database.close();
  }
  console.log(`${histories} histories, 15 rounds each, ${documents} documents compared`);
});
