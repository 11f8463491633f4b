import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import autocannon from "autocannon";
import { expect, test } from "vitest";
import { openLibsql } from "../../src/node/libsql.js";
import { figure } from "../support/figures.js";
import { svc } from "../support/project-directory.js";
import { spawnServer } from "../support/spawned-server.js";
import { connections, inTurns, type Runs } from "./works.js";

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
    const runs =
      ({ url, headers }: typeof on): Runs =>
      async (requests) => {
        const amount = Math.max(connections, Math.round(requests));
        const result = await autocannon({ url: url + path, headers, connections, amount, sampleInt: 10 });
        expect(result.non2xx).toBe(0);
        return result["2xx"] / result.duration;
      };
    const compared = await inTurns([runs(on), runs(off)]);
    const rates = compared.map(({ rate }) => `${rate.toFixed(0)} /s`);
    figure("metering", name, ...rates, compared[0]!.ratio);
  }
  await on.end();
  await off.end();
});
