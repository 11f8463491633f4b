import { appendFileSync, chmodSync, chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { release } from "../../src/platform/release.js";
import { emptyFolder } from "./installed.js";
import { executable } from "./released.js";

const json = { "Content-Type": "application/json" };
const folderWithBinary = () => emptyFolder(process.execPath, executable);

/** The folder that the binary unpacks into, in a home that was empty. */
const cacheOf = (home: string) => join(home, "home/.cache/svc");

// `npm run test:binary` builds it first.
describe.runIf(process.env.BINARY)("the single executable", () => {
  it("serves a new project from an empty home", async () => {
    const folder = folderWithBinary();
    expect(await folder.svc("init")).toMatchObject({ status: 0, stderr: "" });
    expect(await folder.svc("check")).toMatchObject({ status: 0 });
    expect(await folder.svc("test", "--mutate", "--min", "100")).toMatchObject({ status: 0, stderr: "" });
    const { url, stop } = await folder.serve();
    expect(await folder.svc("health", "--url", url)).toMatchObject({ status: 0 });
    const page = await fetch(`${url}/console`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<div id="app">')]);
    const body = JSON.stringify({ email: "ada@example.com", password: "correct horse battery" });
    const registered = await fetch(`${url}/auth/register`, { method: "POST", headers: json, body });
    const { data } = (await registered.json()) as { data: { access_token: string; user: { id: string } } };
    expect(registered.status).toBe(201);
    const order = { user_id: data.user.id, product_id: 1 };
    const headers = { ...json, Authorization: `Bearer ${data.access_token}` };
    const created = await fetch(`${url}/api/orders`, { method: "POST", headers, body: JSON.stringify(order) });
    // There is no such product.
    expect(created.status).toBe(409);
    expect(await (await fetch(`${url}/api/products?search=x`)).json()).toMatchObject({
      error: { code: "bad_request" },
    });
    expect(await stop()).toBe(0);
    expect(statSync(cacheOf(folder.path)).mode & 0o777).toBe(0o700);
  });

  it("unpacks anew what was changed", async () => {
    const folder = folderWithBinary();
    const printed = { status: 0, stdout: `${release}\n`, stderr: "" };
    expect(await folder.svc("--version")).toEqual(printed);
    const cache = cacheOf(folder.path);
    const [unpacked] = readdirSync(cache);
    const main = join(cache, unpacked!, "dist/svc/main.js");
    const { size, mtimeMs } = statSync(main);
    expect(await folder.svc("--version")).toEqual(printed);
    expect(statSync(main).mtimeMs).toBe(mtimeMs);
    appendFileSync(main, "console.log('changed');");
    expect(await folder.svc("--version")).toEqual(printed);
    expect(statSync(main).size).toBe(size);
    chmodSync(join(cache, unpacked!), 0o777);
    expect(await folder.svc("--version")).toEqual(printed);
    expect(statSync(join(cache, unpacked!)).mode & 0o777).toBe(0o700);
    expect(readdirSync(cache)).toEqual([unpacked]);
  });

  it("is unpacked once by starts at the same time", async () => {
    const folder = folderWithBinary();
    const all = await Promise.all(Array.from({ length: 6 }, () => folder.svc("--version")));
    for (const each of all) expect(each).toEqual({ status: 0, stdout: `${release}\n`, stderr: "" });
    expect(readdirSync(cacheOf(folder.path))).toHaveLength(1);
  });

  it("says where it cannot be unpacked to", async () => {
    const folder = folderWithBinary();
    const file = join(folder.path, "file");
    writeFileSync(file, "");
    const refused = await folder.svcWith({ SVC_CACHE_DIR: join(file, "svc") }, "--version");
    expect(refused).toMatchObject({ status: 2, stdout: "", stderr: expect.stringMatching(/^svc: .*SVC_CACHE_DIR/) });
    const other = join(folder.path, "other");
    expect(await folder.svcWith({ SVC_CACHE_DIR: other }, "--version")).toMatchObject({ status: 0 });
  });

  it.runIf(process.getuid?.() === 0)("does not run what another user could have written", async () => {
    const folder = folderWithBinary();
    const cache = cacheOf(folder.path);
    mkdirSync(cache, { recursive: true });
    chownSync(cache, 12_345, 12_345);
    const refused = await folder.svc("--version");
    expect(refused).toMatchObject({
      status: 2,
      stdout: "",
      stderr: expect.stringContaining("other users can write"),
    });
  });
});
