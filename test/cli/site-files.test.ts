import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { request as send } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { spawnServer } from "../support/spawned-server.js";
import { svc } from "./svc.js";

const secret = 'allow_insecure_dev_secret = true\ndev_secret = "a secret of the test suite, 32 bytes and more"';
const schema = "notes: { columns: { id: { type: integer, primary_key: true } } }\n";

/** A project whose pages are in `public`. */
function project(server: string, files: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), "svc-site-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const config = `[auth]\n${secret}\ncookie_mode = true\ncookie_secure = false\n[log]\nformat = "off"\n[server]\n${server}\n[rules.notes]\nread = "public"\n`;
  for (const [path, text] of Object.entries({ "svc.toml": config, "svc.schema.yaml": schema, ...files })) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  return directory;
}

const pages = {
  "public/index.html": "<h1>home</h1>",
  "public/app.js": "0123456789",
  "public/empty.txt": "",
  "public/docs/index.html": "<h1>docs</h1>",
  "public/a b.txt": "spaced",
  "public/.env": "SECRET=1",
  "public/.git/config": "x",
  "public/.well-known/security.txt": "Contact: x",
  "public/api/notes": "not this",
  "outside.txt": "outside",
};

it("serves the files of the directory at /, and nothing else", async () => {
  const directory = project('serve_dir = "public"', pages);
  symlinkSync(join(directory, "outside.txt"), join(directory, "public/out.txt"));
  symlinkSync(directory, join(directory, "public/up"));
  symlinkSync(".env", join(directory, "public/env.txt"));
  symlinkSync("app.js", join(directory, "public/same.js"));
  const pipe = spawnSync("mkfifo", [join(directory, "public/pipe")]);
  expect(pipe.status).toBe(0);
  const { url, end } = await spawnServer(directory);
  const get = async (path: string, headers: Record<string, string> = {}, method = "GET") => {
    const answer = await fetch(url + path, { headers, method, redirect: "manual" });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  expect(await get("/")).toMatchObject({ status: 200, text: "<h1>home</h1>" });
  expect((await get("/")).headers.get("Content-Type")).toMatch(/^text\/html/);
  expect(await get("/docs/")).toMatchObject({ status: 200, text: "<h1>docs</h1>" });
  expect(await get("/a%20b.txt")).toMatchObject({ status: 200, text: "spaced" });
  expect(await get("/same.js")).toMatchObject({ status: 200, text: "0123456789" });
  expect(await get("/.well-known/security.txt")).toMatchObject({ status: 200, text: "Contact: x" });
  expect(await get("/empty.txt")).toMatchObject({ status: 200, text: "" });
  expect(await get("/api/notes")).toMatchObject({ status: 200, text: expect.stringContaining('"data":[]') });
  const script = await get("/app.js");
  const etag = script.headers.get("ETag")!;
  expect(script.headers.get("X-Content-Type-Options")).toBe("nosniff");
  expect(await get("/app.js", {}, "HEAD")).toMatchObject({ status: 200, text: "" });
  expect(await get("/app.js", { "If-None-Match": `W/"x", ${etag}` })).toMatchObject({ status: 304, text: "" });
  expect(await get("/app.js", { Range: "bytes=2-4" })).toMatchObject({ status: 206, text: "234" });
  expect((await get("/app.js", { Range: "bytes=2-4" })).headers.get("Content-Range")).toBe("bytes 2-4/10");
  expect(await get("/app.js", { Range: "bytes=2-4", "If-Range": '"other"' })).toMatchObject({ status: 200 });
  expect(await get("/app.js", { Range: "bytes=nothing" })).toMatchObject({ status: 200, text: "0123456789" });
  const past = await get("/app.js", { Range: "bytes=10-" });
  expect([past.status, past.headers.get("Content-Range")]).toEqual([416, "bytes */10"]);

  const absent = [
    "/docs",
    "/none.html",
    "/.env",
    "/.git/config",
    "/env.txt",
    "/out.txt",
    "/up/svc.toml",
    "/up/.svc/data.db",
    "/pipe",
    "/docs/.well-known/x",
    "/%00",
    "/%ff",
    "/a%5cb.txt",
    "/console",
    "/console/",
  ];
  for (const path of absent) expect([path, (await get(path, { Accept: "text/html" })).status]).toEqual([path, 404]);
  expect((await get("/index.html", {}, "POST")).status).toBe(404);
  // As they are sent, which `fetch` would not do.
  const { hostname, port } = new URL(url);
  for (const path of [
    "/../outside.txt",
    "/%2e%2e/outside.txt",
    "/docs/../../outside.txt",
    "/..%2foutside.txt",
    "//etc/passwd",
  ]) {
    const status = await new Promise((resolve) =>
      send({ hostname, port, path }, (answer) => resolve(answer.resume().statusCode)).end(),
    );
    expect([path, status]).toEqual([path, 404]);
  }
  expect(await end("SIGTERM")).toBe(0);
});

it("answers navigations to other paths with the fallback, and neither scripts nor the server's own paths", async () => {
  const { url, end } = await spawnServer(project('serve_dir = "public"\nfallback = "index.html"', pages));
  const { hostname, port } = new URL(url);
  // `fetch` would send a Sec-Fetch-Mode of its own.
  const get = (path: string, headers: Record<string, string>) =>
    new Promise<readonly [number, string]>((resolve, reject) =>
      send({ hostname, port, path, headers }, async (answer) => {
        const text = (await answer.setEncoding("utf8").toArray()).join("");
        resolve([answer.statusCode!, text.slice(0, 13)]);
      })
        .on("error", reject)
        .end(),
    );
  expect(await get("/orders/7", { Accept: "text/html,*/*" })).toEqual([200, "<h1>home</h1>"]);
  expect(await get("/orders/7", { "Sec-Fetch-Mode": "navigate" })).toEqual([200, "<h1>home</h1>"]);
  expect((await get("/orders/7.js", { Accept: "*/*" }))[0]).toBe(404);
  expect((await get("/api/none/1/2/3", { Accept: "text/html" }))[0]).toBe(404);
  expect((await get("/console", { Accept: "text/html" }))[0]).toBe(404);
  expect((await get("/admin/api/users", { Accept: "text/html" }))[0]).toBe(401);
  expect(await end("SIGTERM")).toBe(0);
});

it.each([
  ['serve_dir = "."', "svc.toml is in ."],
  ['serve_dir = "none"', "none is not a directory"],
  ['serve_dir = "svc.toml"', "svc.toml is not a directory"],
  ['serve_dir = ".svc/mail"', ".svc/mail is in .svc"],
  ['serve_dir = "link"', "svc.toml is in link"],
  ['fallback = "index.html"', "server.serve_dir, which is not set"],
])("%s stops the start", (server, message) => {
  const directory = project(server, { ".svc/mail/x": "" });
  symlinkSync(".", join(directory, "link"));
  const { status, stderr } = svc(["serve", "--dir", directory, "--port", "0"]);
  expect(status).toBe(2);
  expect(stderr).toContain(message);
});
