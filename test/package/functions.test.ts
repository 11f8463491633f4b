import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { expect, it, onTestFinished } from "vitest";
import { blocksOf } from "../docs/pages.js";
import { freePort } from "../support/free-port.js";
import { emptyFolder, type Folder } from "./installed.js";
import { tarballs } from "./released.js";
import { startedWorker } from "./started-worker.js";

const page = "docs/guides/functions.md";
const codeUnder = (heading: string) =>
  blocksOf(page).find((block) => block.language === "ts" && block.heading === heading)!.text;

/** A folder with the project of `svc init`, in cookie mode, and the modules of the page. */
async function project(...packages: readonly string[]): Promise<Folder> {
  const folder = emptyFolder();
  writeFileSync(join(folder.path, "package.json"), '{ "type": "module" }');
  await folder.install(tarballs.server, "hono", "@hono/node-server", "@types/node@20", ...packages);
  expect(await folder.svc("init", "--worker")).toMatchObject({ status: 0 });
  const config = join(folder.path, "svc.toml");
  const cookies = 'cookie_mode = true\ncookie_secure = false\n[cors]\nallowed_origins = ["https://shop.example.com"]';
  writeFileSync(
    config,
    readFileSync(config, "utf8")
      .replace(/^# cookie_mode = true$/m, "")
      .replace(/^cookie_tokens_in_body.*$/m, `$&\n${cookies}`),
  );
  expect(await folder.svc("gen", "types", "--out", "tables.ts")).toMatchObject({ status: 0 });
  return folder;
}

/** Checks the types of a module and makes JavaScript of it, with what it imports of the folder. */
async function build(folder: Folder, file: string, external: readonly RegExp[] = [/^[^./]/]): Promise<string> {
  const options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2022"];
  const compiler = join(process.cwd(), "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [compiler, ...options, "--allowJs", "--types", "node", file], {
    cwd: folder.path,
    stdio: ["ignore", "inherit", "inherit"],
  });
  const bundle = await rolldown({
    input: join(folder.path, file),
    external: [...external],
    platform: "browser",
    resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
  });
  const made = join(folder.path, "built");
  await bundle.write({ dir: made, format: "esm", entryFileNames: "index.js" });
  return made;
}

it("the function and the page of the guide do what it says", async () => {
  const folder = await project();
  writeFileSync(join(folder.path, "page.ts"), codeUnder("A rendered page"));
  const [imports, rest] = codeUnder("A function").split(/(?<=from "svc-server";\n)/);
  const withPage = `${imports}import { ordersPage } from "./page.js";\n${rest!.replace(
    'app.all("*"',
    'app.get("/orders", ordersPage(svc));\napp.all("*"',
  )}`;
  writeFileSync(join(folder.path, "server.ts"), withPage);
  await build(folder, "server.ts");

  const invoices: unknown[] = [];
  const service = createServer(async (request, response) => {
    invoices.push(JSON.parse((await request.setEncoding("utf8").toArray()).join("")));
    response.end();
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void service.close());
  await once(service, "listening");
  const invoicesUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const port = await freePort("127.0.0.1");
  const url = `http://localhost:${port}`;
  const program = spawn(folder.node, ["built/index.js"], {
    cwd: folder.path,
    env: { PATH: process.env.PATH, PORT: String(port), INVOICES_URL: invoicesUrl, SVC_GATEWAY_URL: url },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void program.kill("SIGKILL"));
  const exited = once(program, "exit");
  const printed = { out: "", log: "" };
  program.stdout.setEncoding("utf8").on("data", (text) => (printed.out += text));
  program.stderr.setEncoding("utf8").on("data", (text) => (printed.log += text));
  const ended = exited.then(() => Promise.reject(new Error(`the program has ended: ${printed.log}`)));
  const answers = expect
    .poll(() =>
      fetch(`${url}/health`).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
  await Promise.race([ended, answers]);
  ended.catch(() => {});

  const person = async (name: string) => {
    const response = await fetch(`${url}/auth/register`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Origin: url },
      body: JSON.stringify({ email: `${name}@example.com`, password: "correct horse battery" }),
    });
    expect(response.status).toBe(201);
    const cookie = response.headers.getSetCookie().map((line) => line.split(";")[0]);
    const { data } = (await response.json()) as { data: { user: { id: string } } };
    return { id: data.user.id, Cookie: cookie.join("; ") };
  };
  const [ada, eve] = [await person("ada"), await person("eve")];
  const send = (path: string, body: object, headers: Record<string, string>) =>
    fetch(url + path, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const input = "correct horse battery\n";
  const root = ["admin", "create-user", "--email", "root@example.com", "--role", "admin", "--password-stdin"];
  execFileSync(folder.node, ["node_modules/svc-server/dist/svc/main.js", ...root], { cwd: folder.path, input });
  const login = await send("/auth/login", { email: "root@example.com", password: input.trim() }, { Origin: url });
  const Cookie = login.headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");
  const product = await send("/api/products", { name: "<Tea>", price_cents: 450 }, { Cookie, Origin: url });
  expect(product.status).toBe(201);
  const ordered = await send("/api/orders", { user_id: ada.id, product_id: 1 }, { Cookie: ada.Cookie, Origin: url });
  expect(ordered.status).toBe(201);

  const invoice = (headers: Record<string, string>) => send("/functions/invoice", { order_id: 1 }, headers);
  expect((await invoice({})).status).toBe(401);
  expect((await invoice({ Cookie: eve.Cookie, Origin: url })).status).toBe(404);
  // A page of another site, and a request that does not say where it comes from.
  expect((await invoice({ Cookie: ada.Cookie, Origin: "https://evil.example" })).status).toBe(403);
  expect((await invoice({ Cookie: ada.Cookie })).status).toBe(403);
  expect(invoices).toEqual([]);
  expect((await invoice({ Cookie: ada.Cookie, Origin: url })).status).toBe(200);
  expect(invoices).toMatchObject([{ id: 1, quantity: 1, _expand: { product_id: { name: "<Tea>" } } }]);
  const [order] = (
    (await (await fetch(`${url}/api/orders`, { headers: { Cookie } })).json()) as { data: { note: string }[] }
  ).data;
  expect(order).toMatchObject({ note: "invoiced" });

  const shown = await fetch(`${url}/orders`, { headers: { Cookie: ada.Cookie }, redirect: "manual" });
  expect(await shown.text()).toBe("<!doctype html><title>Orders</title><ul><li>1 × &lt;Tea&gt;</li></ul>");
  const signedOut = await fetch(`${url}/orders`, { redirect: "manual" });
  expect([signedOut.status, signedOut.headers.get("Location")]).toEqual([302, "/sign-in.html"]);
  expect((await fetch(`${url}/console`)).status).toBe(404);

  program.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
  expect(printed.out).toBe("");
  expect(printed.log).toMatch(/PATCH \/api\/:table\/:id 200 .* key rows=/);
});

it("the Worker of the guide runs in workerd", async () => {
  const folder = await project();
  expect(await folder.svc("worker", "build")).toMatchObject({ status: 0 });
  writeFileSync(join(folder.path, "worker.ts"), codeUnder("On Workers"));
  const made = await build(folder, "worker.ts", [/^cloudflare:/, /^svc-server/]);
  // wrangler's bundler would do this: the package's modules beside the Worker's.
  const bundle = join(made, "index.js");
  writeFileSync(bundle, readFileSync(bundle, "utf8").replace("svc-server/worker", "./svc/create-svc.js"));
  cpSync(join(folder.path, "node_modules/svc-server/dist/worker/modules"), join(made, "svc"), { recursive: true });
  const miniflare = await startedWorker(folder, made);
  const counted = await miniflare.dispatchFetch("http://127.0.0.1/functions/count");
  expect([counted.status, await counted.json()]).toEqual([200, { data: { products: 0 } }]);
  const listed = await miniflare.dispatchFetch("http://127.0.0.1/api/products");
  expect([listed.status, await listed.json()]).toMatchObject([200, { data: [] }]);
});
