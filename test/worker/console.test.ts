import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { assetHeaders, pageHeaders } from "../../src/admin/console/headers.js";
import { writeConsoleAssets } from "../../src/cli/worker-console.js";
import { startProduct } from "../support/workerd/product.js";

const directory = mkdtempSync(join(tmpdir(), "svc-console-"));
afterAll(() => rmSync(directory, { recursive: true }));

const built = join(directory, "built");
const page = "<!doctype html><title>svc</title>";
mkdirSync(join(built, "assets"), { recursive: true });
for (const name of ["index.html", "assets/main-Ab12.js", "assets/main-Cd34.css"]) {
  writeFileSync(join(built, name), name.endsWith("html") ? page : `/* ${name} */`);
  for (const suffix of [".br", ".gz"]) writeFileSync(join(built, name + suffix), "compressed");
}

/** Of the product's Worker, beside what `svc worker build` would have put there. */
async function served(enabled: boolean) {
  const assets = mkdtempSync(join(directory, "assets-"));
  writeConsoleAssets(enabled, built, assets);
  const { miniflare } = await startProduct(null, assets);
  const get = (path: string, init: { method?: string; headers?: Record<string, string> } = {}) =>
    miniflare.dispatchFetch(`https://x.example${path}`, { redirect: "manual", ...init });
  return { assets, get };
}

describe("the console on a Worker", () => {
  it("is served by Cloudflare with the headers of the server, and everything else by the Worker", async () => {
    const { assets, get } = await served(true);
    expect(readdirSync(assets, { recursive: true }).sort()).toEqual([
      "_headers",
      "console",
      "console/assets",
      "console/assets/main-Ab12.js",
      "console/assets/main-Cd34.css",
      "console/index.html",
    ]);
    const answer = await get("/console");
    expect([answer.status, await answer.text()]).toEqual([200, page]);
    expect(answer.headers.get("Content-Type")).toBe("text/html; charset=utf-8");
    const strict = { "Strict-Transport-Security": "max-age=31536000" };
    for (const [name, value] of Object.entries({ ...pageHeaders, ...strict }))
      expect(answer.headers.get(name), name).toBe(value);
    for (const [name, type] of [
      ["main-Ab12.js", "text/javascript; charset=utf-8"],
      ["main-Cd34.css", "text/css; charset=utf-8"],
    ] as const) {
      const asset = await get(`/console/assets/${name}`);
      expect([asset.status, await asset.text()]).toEqual([200, `/* assets/${name} */`]);
      expect(asset.headers.get("Content-Type")).toBe(type);
      for (const [header, value] of Object.entries({ ...assetHeaders, ...strict }))
        expect(asset.headers.get(header), header).toBe(value);
    }
    const slash = await get("/console/");
    expect([slash.status, slash.headers.get("Location")]).toEqual([307, "/console"]);
    const navigation = { headers: { "Sec-Fetch-Mode": "navigate", Accept: "text/html" } };
    for (const path of ["/console/assets/none-1.js", "/console/assets/main-Ab12.js.br", "/_headers", "/", "/other"]) {
      const missing = await get(path, navigation);
      expect([path, missing.status, await missing.json()]).toMatchObject([path, 404, { error: { code: "not_found" } }]);
    }
    const session = await get("/admin/api/session", { headers: { Origin: "https://x.example" } });
    // No schema was applied, so that the database has no tables yet.
    expect([session.status, await session.json()]).toMatchObject([503, { error: { code: "unavailable" } }]);
  });

  it("leaves nothing for Cloudflare to serve where it is off", async () => {
    const { assets, get } = await served(false);
    expect(readdirSync(assets)).toEqual([]);
    const answer = await get("/console");
    expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: "not_found" } }]);
  });
});

it("wrangler.toml serves what svc worker build writes, outside of the directory of the Worker's modules", () => {
  const text = readFileSync("wrangler.toml", "utf8");
  expect(text).toContain('main = ".svc/worker/modules/index.js"');
  expect(text).toMatch(
    /^\[assets\]\ndirectory = "\.svc\/worker\/assets"\nhtml_handling = "drop-trailing-slash"\nnot_found_handling = "none"$/m,
  );
});
