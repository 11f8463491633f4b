import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it, onTestFinished } from "vitest";
import { emptyFolder } from "./installed.js";
import { tarballs } from "./released.js";

// They run the server, and that is all that is claimed of them: docs/not-in-it.md.
const runtimes = process.env.NODES === "all" ? [["bun"], ["deno", "run", "-A"]] : [];

describe.runIf(runtimes.length > 0)("the server's package under other runtimes", () => {
  it.each(runtimes)("%s serves rows, long work and sign-ins, and ends in order", async (command, ...args) => {
    const folder = emptyFolder();
    await folder.install(tarballs.server, command);
    expect(await folder.svc("init")).toMatchObject({ status: 0 });
    const program = join(folder.path, "node_modules/svc-server/dist/svc/main.js");
    const runtime = join(folder.path, "node_modules/.bin", command);
    const server = spawn(runtime, [...args, program, "serve", "--port", "0"], {
      cwd: folder.path,
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void server.kill("SIGKILL"));
    const exited = once(server, "exit");
    let url = "";
    for await (const line of createInterface(server.stdout!)) {
      url = line.replace("listening on ", "");
      break;
    }
    const make = ["admin", "create-service-key", "--name", "test", "--scope", "project:backend"];
    const made = execFileSync(process.execPath, [program, ...make], { cwd: folder.path, encoding: "utf8" });
    const post = (path: string, body: object, headers: Record<string, string> = {}) =>
      fetch(url + path, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers },
        body: JSON.stringify(body),
      });
    const rows = Array.from({ length: 500 }, (_, i) => ({ name: `n${i}`, price_cents: i }));
    const written = await post("/api/products", rows, { "X-API-Key": made.trim().split("\n").at(-1)! });
    expect(written.status).toBe(201);
    // No index serves it, so it runs in the thread for long work.
    const found = await fetch(`${url}/api/products?filter[name][contains]=49&sort=-price_cents&limit=1`);
    expect(await found.json()).toMatchObject({ data: [{ name: "n499" }], meta: { total: 15 } });
    expect((await post("/auth/register", { email: "a@example.com", password: "correct horse" })).status).toBe(201);
    server.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
  });
});
