import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadModule } from "./code-cache.js";
import type { main } from "./main.js";

const announced = "listening on ";

/** Serves a new project until its first answer, and keeps what of the command line at `path` was compiled for it. */
export async function warmUp(path: string): Promise<void> {
  const { exports, writeCache } = loadModule<{ main: typeof main }>(path);
  const directory = mkdtempSync(join(tmpdir(), "svc-warm-up-"));
  const { log } = console;
  // Nobody listens to it, and nobody is to be warned of it.
  process.env.SVC_JWT_SECRET = "a secret that lasts for one request";
  try {
    const url = new Promise<string>((resolve) => {
      console.log = (line: string) => line.startsWith(announced) && resolve(line.slice(announced.length));
    });
    await exports.main(["init", directory]);
    const serving = exports.main(["serve", "--dir", directory, "--port", "0"]);
    const ended = serving.then((code) => Promise.reject(new Error(`the server ended with ${code}`)));
    const answer = await fetch(`${await Promise.race([url, ended])}/api/products`);
    await answer.text();
    process.emit("SIGTERM");
    await serving;
    writeCache();
  } finally {
    console.log = log;
    rmSync(directory, { recursive: true });
  }
}
