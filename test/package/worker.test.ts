import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { emptyFolder } from "./installed.js";
import { tarballs } from "./released.js";
import { startedWorker } from "./started-worker.js";

it("a Worker of the installed package answers in workerd, without a bundler", async () => {
  const folder = emptyFolder();
  await folder.install(tarballs.server);
  expect(await folder.svc("init", "--worker")).toMatchObject({ status: 0, stderr: "" });
  const wrangler = readFileSync(join(folder.path, "wrangler.toml"), "utf8");
  expect(wrangler).toContain('main = ".svc/worker/modules/index.js"');
  expect(JSON.parse(readFileSync(join(folder.path, "package.json"), "utf8")).scripts).toMatchObject({
    deploy: "wrangler deploy",
    "dev:worker": "svc worker dev",
  });
  expect(await folder.svc("worker", "build")).toMatchObject({ status: 0, stdout: "", stderr: "" });
  expect(existsSync(join(folder.path, ".svc/worker/assets/console/index.html"))).toBe(true);

  const miniflare = await startedWorker(folder, join(folder.path, ".svc/worker/modules"));
  const answer = await miniflare.dispatchFetch("http://127.0.0.1/api/products");
  expect([answer.status, await answer.json()]).toMatchObject([200, { data: [], meta: { total: 0 } }]);

  // What an owner has changed stays.
  writeFileSync(join(folder.path, "wrangler.toml"), `${wrangler}# mine\n`);
  expect(await folder.svc("worker", "build")).toMatchObject({ status: 0 });
  expect(readFileSync(join(folder.path, "wrangler.toml"), "utf8")).toBe(`${wrangler}# mine\n`);
});
