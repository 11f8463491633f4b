import { Miniflare } from "miniflare";
import { onTestFinished } from "vitest";
import { bundled } from "../support/workerd/modules.js";
import type { Folder } from "./installed.js";

/** Runs modules in workerd until the test ends, on a D1 database that `svc worker bootstrap` of the folder has set up. */
export async function startedWorker(folder: Folder, modules: string): Promise<Miniflare> {
  const { stdout } = await folder.svc("worker", "bootstrap");
  const miniflare = new Miniflare({
    ...bundled(modules, "index.js"),
    d1Databases: { DB: "00000000-0000-0000-0000-000000000000" },
    bindings: { SVC_GATEWAY_URL: "http://127.0.0.1" },
  });
  onTestFinished(() => miniflare.dispose());
  const database = await miniflare.getD1Database("DB");
  const statements = stdout.split(/;\n/).filter((sql) => sql.trim() !== "");
  await database.batch(statements.map((sql) => database.prepare(sql)));
  return miniflare;
}
