import { addRxPlugin, type RxCollection } from "rxdb";
import { disableWarnings, RxDBDevModePlugin } from "rxdb/plugins/dev-mode";
import { RxDBLocalDocumentsPlugin } from "rxdb/plugins/local-documents";
import { getRxStorageMemory } from "rxdb/plugins/storage-memory";
import { runReplicationBaseTestSuite, setConfig } from "rxdb/plugins/test-utils";
import { wrappedValidateAjvStorage } from "rxdb/plugins/validate-ajv";
import { describe, it } from "vitest";
import { type Client, createClient, memoryStorage } from "../../src/client/index.js";
import { replicateSvc } from "../../src/client/rxdb.js";
import { client, dataOf } from "../support/client.js";
import { member } from "../support/people.js";
import { apiKey, serve, type TestServer } from "../support/server.js";

const origin = "http://127.0.0.1:8787";
const schema = `
humans:
  history: forever
  columns:
    passportId: { type: text, primary_key: true }
    firstName: { type: text, not_null: true }
    lastName: { type: text, not_null: true }
    age: { type: integer }
`;
const config = `
[rules.humans]
read = "authenticated"
create = "authenticated"
update = "authenticated"
delete = "authenticated"
`;

let server: TestServer;
let api: Client<never>;
let key: ReturnType<typeof client>;

const replicate = (collection: RxCollection, live: boolean) =>
  replicateSvc({
    client: api,
    collection,
    table: "humans",
    replicationIdentifier: "humans",
    waitForLeadership: false,
    retryTime: 100,
    live,
  });

/** A server without rows, for each test of the suite. */
async function begin(): Promise<void> {
  server = await serve({ schema, config }, "socket");
  key = client(server, await apiKey(server, "project:backend"));
  const { bearer } = await member(server, "ann");
  api = createClient({
    url: origin,
    storage: memoryStorage(),
    fetch: (input, init) =>
      server.request(String(input).slice(origin.length), {
        ...init,
        headers: { ...(init!.headers as Record<string, string>), ...bearer },
      }),
  });
}

// The suite is written for mocha, and configures itself and the console when it is asked for a storage.
Object.assign(globalThis, { describe, it });
disableWarnings();
addRxPlugin(RxDBDevModePlugin);
addRxPlugin(RxDBLocalDocumentsPlugin);
const storage = wrappedValidateAjvStorage({ storage: getRxStorageMemory() });
setConfig({
  storage: {
    name: "memory",
    getStorage: () => storage,
    getPerformanceStorage: () => ({ storage, description: "memory" }),
    hasPersistence: false,
    hasMultiInstance: true,
    hasAttachments: false,
    hasReplication: true,
  },
});

describe("RxDB's own suite of replications, against the adapter and a server", () => {
  runReplicationBaseTestSuite({
    startReplication: (collection) => replicate(collection, true),
    syncOnce: async (collection) => {
      const replication = replicate(collection, false);
      replication.error$.subscribe((error) => {
        throw error;
      });
      await replication.awaitInitialReplication();
      await replication.cancel();
    },
    getAllServerDocs: async () => dataOf<object[]>(await key.get("/api/humans?limit=1000")),
    cleanUpServer: begin,
    getPrimaryOfServerDoc: ({ passportId }) => passportId,
  });
});
