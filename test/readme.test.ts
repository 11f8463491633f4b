import { execFileSync, spawn, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";

const hasCurl = spawnSync("curl", ["--version"]).status === 0;
if (!hasCurl && process.env.CI) throw new Error("the README's tour needs curl");

test.skipIf(!hasCurl)("the README's tour does what it says (needs curl)", async () => {
  const tour = /## A one-minute tour[\s\S]*?```sh\n([\s\S]*?)```/.exec(
    readFileSync("README.md", "utf8"),
  )![1]!;
  const printed = execFileSync("bash", ["-euo", "pipefail", "-c", tour], {
    env: { ...process.env, API: await exampleProject() },
    encoding: "utf8",
  });
  let from = 0;
  for (const [, expected] of tour.matchAll(/^# → (.*)$/gm)) {
    const at = printed.indexOf(expected!, from);
    expect(at, `${expected} after ${printed.slice(from)}`).toBeGreaterThanOrEqual(0);
    from = at + expected!.length;
  }
});

/** Serves a copy of the example project as `npm start` does. */
async function exampleProject(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "svc-tour-"));
  for (const file of ["svc.toml", "svc.schema.yaml"]) cpSync(file, join(directory, file));
  const server = spawn(process.execPath, ["dist/cli/main.js", "serve", "--dir", directory, "--port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    const exited = new Promise((resolve) => server.once("exit", resolve));
    server.kill("SIGTERM");
    expect(await exited).toBe(0);
    rmSync(directory, { recursive: true });
  });
  for await (const line of createInterface(server.stdout)) return line.replace("listening on ", "");
  throw new Error("the server did not start");
}
