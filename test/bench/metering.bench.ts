import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import autocannon from "autocannon";
import { expect, test } from "vitest";
import { openLibsql } from "../../src/node/libsql.js";
import { figure, median } from "../support/figures.js";
import { svc } from "../support/project-directory.js";
import { spawnServer } from "../support/spawned-server.js";

const rounds = 5;
const seconds = 3;

const schema = `
messages:
  columns:
    id: { type: integer, primary_key: true }
    room: { type: integer }
    body: { type: text }
  indexes: [{ columns: [room] }]
`;
const secret =
  'auth = { allow_insecure_dev_secret = true, dev_secret = "a secret of the benchmark, of 32 bytes" }\n';

const work = {
  "point read": "/api/messages/5000",
  "list of 50, with total": "/api/messages?where[room]=7",
};

/** A server of 10,000 messages in 100 rooms, and the headers of an API key. */
async function start(config: string) {
  const directory = mkdtempSync(join(tmpdir(), "svc-bench-"));
  writeFileSync(join(directory, "svc.toml"), secret + config);
  writeFileSync(join(directory, "svc.schema.yaml"), schema);
  svc(directory, ["schema", "apply"]);
  const database = openLibsql({
    path: join(directory, ".svc/data.db"),
    synchronous: "normal",
    commandLine: true,
  });
  await database.batch([
    {
      sql: `INSERT INTO messages SELECT value, value % 100, 'message ' || value
        FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 10000) SELECT value FROM n)`,
      params: [],
    },
  ]);
  await database.close();
  const key = svc(directory, [
    "admin",
    "create-service-key",
    "--name",
    "bench",
    "--scope",
    "project:backend",
  ]);
  const server = await spawnServer(directory);
  const end = async () => {
    await server.end("SIGTERM");
    rmSync(directory, { recursive: true });
  };
  const headers = { Authorization: `Bearer ${key.trim().split("\n").at(-1)}` };
  return { url: server.url, headers, end };
}

test("what metering costs", async () => {
  const on = await start("");
  const off = await start("usage.enabled = false\n");
  for (const [name, path] of Object.entries(work)) {
    const rate = async ({ url, headers }: typeof on) => {
      const result = await autocannon({ url: url + path, headers, connections: 16, duration: seconds });
      expect(result.non2xx).toBe(0);
      return result.requests.average;
    };
    const rates = { on: [] as number[], off: [] as number[] };
    await rate(on);
    await rate(off);
    for (let round = 0; round < rounds; round++) {
      rates.on.push(await rate(on));
      rates.off.push(await rate(off));
    }
    const [metered, not] = [median(rates.on), median(rates.off)];
    figure("metering", name, `${metered.toFixed(0)} /s`, `${not.toFixed(0)} /s`, metered / not);
  }
  await on.end();
  await off.end();
});
