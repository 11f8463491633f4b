import childProcess from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { applySafe } from "../../src/schema/apply.js";
import { type D1Binding, openD1 } from "../../src/worker/d1.js";
import { figure, median } from "../support/figures.js";
import { bundled, workerModules } from "../support/workerd/modules.js";

const repetitions = 10;

/** When miniflare has spawned workerd. */
let spawnedAt = 0;
const { spawn } = childProcess;
childProcess.spawn = ((command: string, ...rest: []) => {
  if (command.endsWith("workerd")) spawnedAt = performance.now();
  return spawn(command, ...rest);
}) as typeof spawn;
syncBuiltinESMExports();

test("from the spawn of workerd to the first answer of the Worker", async () => {
  // Loaded only now, so that it finds what is watched.
  const { Miniflare } = await import("miniflare");
  const directory = mkdtempSync(join(tmpdir(), "svc-worker-"));
  const start = () =>
    new Miniflare({
      ...bundled(workerModules, "index.js"),
      d1Databases: { DB: "db" },
      d1Persist: directory,
      bindings: {
        SVC_JWT_SECRET: "a secret of the benchmark, of 32 bytes",
        SVC_GATEWAY_URL: "http://127.0.0.1",
      },
    });
  const first = start();
  const database = openD1((await first.getD1Database("DB")) as unknown as D1Binding);
  const applied = await applySafe(database, readFileSync("svc.schema.yaml", "utf8"), { now: 0 });
  expect(applied.outcome).toBe("applied");
  await first.dispose();
  for (const path of ["/health", "/api/tags"]) {
    const times: number[] = [];
    for (let i = 0; i < repetitions; i++) {
      const miniflare = start();
      await miniflare.ready;
      const response = await fetch(new URL(path, await miniflare.unsafeGetDirectURL()));
      times.push(performance.now() - spawnedAt);
      expect(response.status).toBe(200);
      await miniflare.dispose();
    }
    figure("worker start", `GET ${path}`, `${median(times).toFixed(0)} ms`, `${Math.min(...times).toFixed(0)} ms`);
  }
  rmSync(directory, { recursive: true });
});
