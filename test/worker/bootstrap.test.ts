import { execFile, spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { release } from "../../src/platform/release.js";
import { systemMigrations } from "../../src/schema/system/migrations.js";
import { thaw } from "../support/frozen.js";
import { startProduct } from "../support/workerd/product.js";

const password = "correct horse battery staple";

/** The product's own Worker, with the database that wrangler keeps in a directory. */
const product = (directory: string) => startProduct(join(directory, "v3", "d1"));

/** Standard output and error of a command that ends well. */
async function svc(input: string, ...args: string[]): Promise<{ readonly out: string; readonly err: string }> {
  const child = spawn(process.execPath, ["dist/svc/main.js", ...args], { stdio: "pipe" });
  const [out, err] = [child.stdout, child.stderr].map(async (stream) => {
    let text = "";
    for await (const chunk of stream.setEncoding("utf8")) text += chunk;
    return text;
  });
  child.stdin.end(input);
  const code = await new Promise((resolve) => child.once("exit", resolve));
  const printed = { out: await out!, err: await err! };
  expect(code, printed.err).toBe(0);
  return printed;
}

describe("svc worker bootstrap", () => {
  it("makes an empty D1 database this project's, which answered 503 until then", async () => {
    const directory = mkdtempSync(join(tmpdir(), "svc-bootstrap-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    for (const file of ["svc.toml", "svc.schema.yaml"]) cpSync(file, join(directory, file));

    const { url: empty } = await product(join(directory, "empty"));
    for (const path of ["/health", "/api/tags", "/auth/oauth/providers"]) {
      const response = await fetch(empty + path);
      expect([path, response.status]).toEqual([path, path === "/health" ? 200 : 503]);
      await response.text();
    }

    const options = ["--admin-email", "root@example.com", "--password-stdin", "--dir", directory];
    const { out, err } = await svc(`${password}\n`, "worker", "bootstrap", ...options);
    const key = err.trim().split("\n").at(-1)!;
    expect(key).toMatch(/^svc_sk_[\w-]{43}$/);
    expect(out).not.toContain(key);
    expect(out).not.toContain(password);
    const file = join(directory, "bootstrap.sql");
    writeFileSync(file, out);
    const where = ["--local", "--persist-to", directory, "--config", "wrangler.toml"];
    await promisify(execFile)("node_modules/.bin/wrangler", ["d1", "execute", "DB", ...where, "--file", file]);

    const { url } = await product(directory);
    expect((await fetch(`${url}/api/tags`)).status).toBe(200);
    const login = await fetch(`${url}/auth/login`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ email: "root@example.com", password }),
    });
    expect(await login.json()).toMatchObject({ data: { user: { role: "admin" } } });
    const users = await svc(`${key}\n`, "admin", "list-users", "--json", "--url", url, "--key-stdin");
    expect(JSON.parse(users.out)).toMatchObject([{ email: "root@example.com" }]);

    const schema = join(directory, "svc.schema.yaml");
    const more = "\nnotes:\n  columns:\n    id: { type: integer, primary_key: true }\n";
    writeFileSync(schema, readFileSync(schema, "utf8") + more);
    const applied = await svc(`${key}\n`, "schema", "apply", "--dir", directory, "--url", url, "--key-stdin");
    expect(applied.out).toContain("notes");
    // There now, and without a rule: nobody's.
    expect((await fetch(`${url}/api/notes`)).status).toBe(401);
  });
});

describe("a Worker on a database of another release", () => {
  it("brings an earlier one up by its first request, and leaves a later one alone", async () => {
    const directory = mkdtempSync(join(tmpdir(), "svc-upgrade-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const versions = "SELECT version, release FROM _migrations";
    const { url, miniflare } = await product(directory);
    const database = await miniflare.getD1Database("DB");
    await thaw(
      { batch: (statements) => database.batch(statements.map(({ sql }) => database.prepare(sql))) as never },
      readFileSync("test/frozen/release-0.1.0.sql", "utf8"),
    );
    expect((await fetch(`${url}/health`)).status).toBe(200);
    const known = systemMigrations.map((_, i) => ({ version: i + 1, release }));
    expect((await database.prepare(versions).all()).results).toEqual(known);

    await database.prepare("INSERT INTO _migrations VALUES (1000, '9.0.0', 0)").run();
    const later = await product(directory);
    expect((await fetch(`${later.url}/health`)).status).toBe(503);
    const left = await (await later.miniflare.getD1Database("DB")).prepare(versions).all();
    expect(left.results).toEqual([...known, { version: 1000, release: "9.0.0" }]);
  });
});
