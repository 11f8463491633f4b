import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { client, expectRefusal } from "../../support/client.js";
import { member } from "../../support/people.js";
import { inWorkerd, serve } from "../../support/server.js";
import { ownPage, root, schema } from "./support.js";

const directory = mkdtempSync(join(tmpdir(), "svc-console-"));
afterAll(() => rmSync(directory, { recursive: true }));

const page = '<!doctype html><script type="module" src="/console/assets/main-Ab_1-x9.js"></script>';
const script = "document.title = 'svc';";
const style = "body { margin: 0 }";

mkdirSync(join(directory, "assets"));
for (const [name, text] of [
  ["index.html", page],
  ["assets/main-Ab_1-x9.js", script],
  ["assets/main-Cd34.css", style],
] as const) {
  writeFileSync(join(directory, name), text);
  writeFileSync(join(directory, `${name}.br`), brotliCompressSync(text));
  writeFileSync(join(directory, `${name}.gz`), gzipSync(text));
}
writeFileSync(join(directory, "assets/plain-1.js"), script);
writeFileSync(join(directory, "secret.txt"), "not for the web");

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/** On a Worker, Cloudflare serves the page: the Worker itself has none. */
const whereItIs = inWorkerd ? {} : { consoleDirectory: directory };

const served = async (config = "") => client(await serve({ schema, config, consoleDirectory: directory }));

describe("/console", () => {
  it("is the page, with a policy that lets it load and call nothing but this server", async () => {
    const answer = await (await served()).get("/console");
    expect([answer.status, answer.text]).toEqual([200, page]);
    expect(answer.headers.get("Content-Type")).toBe("text/html; charset=utf-8");
    expect(answer.headers.get("Cache-Control")).toBe("no-cache");
    expect(answer.headers.get("Content-Security-Policy")).toBe(policy);
    expect(answer.headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect(answer.headers.get("Referrer-Policy")).toBe("no-referrer");
    expect(answer.headers.get("Cross-Origin-Opener-Policy")).toBe("same-origin");
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  it("has scripts and styles that a browser keeps for ever, as their names change with what is in them", async () => {
    const anybody = await served();
    for (const [name, type, text] of [
      ["main-Ab_1-x9.js", "text/javascript; charset=utf-8", script],
      ["main-Cd34.css", "text/css; charset=utf-8", style],
    ] as const) {
      const answer = await anybody.get(`/console/assets/${name}`);
      expect([answer.status, answer.text]).toEqual([200, text]);
      expect(answer.headers.get("Content-Type")).toBe(type);
      expect(answer.headers.get("Cache-Control")).toBe("public, max-age=31536000, immutable");
      expect(answer.headers.get("Content-Security-Policy")).toBe(policy);
      expect(answer.headers.get("X-Content-Type-Options")).toBe("nosniff");
    }
  });

  it.each([
    ["br", "gzip, deflate, br;q=1.0, zstd", "main-Cd34.css"],
    ["br", "BR", "main-Cd34.css"],
    ["gzip", "gzip", "main-Cd34.css"],
    ["gzip", "br;q=0, gzip;q=0.5", "main-Cd34.css"],
    [null, "br;q=0.0, deflate", "main-Cd34.css"],
    [null, "", "main-Cd34.css"],
    [null, "br, gzip", "plain-1.js"],
  ])("is sent as %s to whom takes %j", async (coding, accepted, name) => {
    const server = await serve({ schema, consoleDirectory: directory });
    const init = { headers: { "Accept-Encoding": accepted } };
    const response = await server.request(`/console/assets/${name}`, init);
    expect(response.headers.get("Content-Encoding")).toBe(coding);
    expect(response.headers.get("Vary")).toContain("Accept-Encoding");
    await response.body?.cancel();
  });

  it("is nothing but what the build has made", async () => {
    const anybody = await served();
    for (const path of [
      "/console/assets/none-1.js",
      "/console/assets/main-Ab_1-x9.js.br",
      "/console/assets/main-Ab_1-x9.js.map",
      "/console/assets/..%2fsecret.txt",
      "/console/assets/..%2findex.html",
      "/console/assets/%2e%2e%2fx-1.js",
      "/console/assets/..%5cx-1.js",
      "/console/assets/a%00-1.js",
      "/console/assets/",
      "/console/assets",
      "/console/index.html",
      "/console/secret.txt",
      "/console/users",
      "/consoles",
    ])
      expectRefusal(await anybody.get(path), 404, "not_found");
  });

  it("is at one path", async () => {
    const server = await serve({ schema, consoleDirectory: directory });
    const answer = await server.request("/console/", { redirect: "manual" });
    expect([answer.status, answer.headers.get("Location")]).toEqual([307, "/console"]);
  });

  it("is read, and not written to", async () => {
    const anybody = await served();
    for (const path of ["/console", "/console/", "/console/assets/main-Cd34.css"]) {
      const answer = await anybody.post(path, {});
      expectRefusal(answer, 405, "method_not_allowed");
      expect(answer.headers.get("Allow")).toBe("GET");
    }
    const head = await anybody.send("HEAD", "/console", {});
    expect([head.status, head.text, head.headers.get("Content-Security-Policy")]).toEqual([200, "", policy]);
  });

  it("is no page that other origins are told they may read", async () => {
    const anybody = await served("cors.allow_any_origin = true");
    const answer = await anybody.get("/console", { Origin: "https://app.example.com" });
    expect([answer.status, answer.headers.get("Access-Control-Allow-Origin")]).toEqual([200, null]);
  });
});

describe("without a session", () => {
  it("there is the page, and nothing else", async () => {
    const anybody = client(await serve({ schema, ...whereItIs }));
    expect((await anybody.get("/console")).status).toBe(inWorkerd ? 404 : 200);
    for (const path of ["session", "users", "service-keys", "usage", "operations"])
      for (const headers of [{}, ownPage])
        expectRefusal(await anybody.get(`/admin/api/${path}`, headers), 401, "unauthorized");
  });
});

it("a page that was not built is 404, and what is wrong is said", async () => {
  const anybody = client(await serve({ schema }));
  const message = expectRefusal(await anybody.get("/console"), 404, "not_found");
  expect(message).toMatch(/not built/);
  expectRefusal(await anybody.get("/console/assets/main-1.js"), 404, "not_found");
});

it("with console.enabled = false there is neither page nor session, and /admin/api is as it was", async () => {
  const server = await serve({ schema, config: "console.enabled = false", ...whereItIs });
  const { bearer } = await member(server, "ada", "admin");
  const asked = client(server, { ...ownPage, ...bearer });
  for (const path of ["/console", "/console/", "/console/assets/main-Cd34.css", "/admin/api/session"])
    expectRefusal(await asked.get(path), 404, "not_found");
  for (const path of ["/admin/api/session", "/admin/api/session/confirm", "/admin/api/setup"])
    expectRefusal(await asked.post(path, root), 404, "not_found");
  expect((await asked.get("/admin/api/users")).status).toBe(200);
  const cookie = { ...ownPage, Cookie: `svc_console=svc_cs_${"A".repeat(43)}` };
  expectRefusal(await client(server, cookie).get("/admin/api/users"), 401, "unauthorized");
});
