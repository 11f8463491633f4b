import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { spawnServer } from "./support/spawned-server.js";

const hasCurl = spawnSync("curl", ["--version"]).status === 0;
if (!hasCurl && process.env.CI) throw new Error("the README's tour needs curl");

test.skipIf(!hasCurl)("the README's tour does what it says (needs curl)", async () => {
  const tour = /## A one-minute tour[\s\S]*?```sh\n([\s\S]*?)```/.exec(readFileSync("README.md", "utf8"))![1]!;
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
  const { url, end } = await spawnServer(directory);
  onTestFinished(async () => {
    expect(await end("SIGTERM")).toBe(0);
    rmSync(directory, { recursive: true });
  });
  return url;
}
