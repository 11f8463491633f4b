import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../support/free-port.js";
import { builtCommand } from "../support/spawned-server.js";
import { type Block, blocksOf } from "./pages.js";

const page = "docs/start.md";
const hasCurl = spawnSync("curl", ["--version"]).status === 0;

test.skipIf(!hasCurl)("who follows the page gets what it says (needs curl)", async () => {
  const blocks = blocksOf(page).filter(({ heading }) => heading !== "Install");
  const directory = mkdtempSync(join(tmpdir(), "svc-start-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const port = String(await freePort("127.0.0.1"));
  // The page's port may be taken.
  const script = scriptOf(blocks).replaceAll("8788", port);
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], {
    cwd: directory,
    env: { PATH: process.env.PATH, SVC: resolve(builtCommand) },
  });
  let from = 0;
  for (const [, expected] of blocks
    .map(({ text }) => text)
    .join("")
    .matchAll(/^# → (.*)$/gm)) {
    const at = stdout.indexOf(expected!, from);
    expect(at, `${expected} after ${stdout.slice(from)}`).toBeGreaterThanOrEqual(0);
    from = at + expected!.length;
  }
});

/** What is typed, in order; what is added to the two files; and `svc serve` beside it, instead of one that runs. */
function scriptOf(blocks: readonly Block[]): string {
  return [beginning, ...blocks.map(lineOf)].join("\n");
}

function lineOf({ language, text }: Block): string {
  if (language === "sh") return text;
  return `cat >> shop/${language === "yaml" ? "svc.schema.yaml" : "svc.toml"} <<'END'\n${text}END`;
}

const beginning = `
server=
stop() { if [ -n "$server" ]; then kill $server; wait $server || true; server=; fi; }
trap stop EXIT
svc() {
  if [ "$1" != serve ]; then node "$SVC" "$@"; return; fi
  stop
  node "$SVC" "$@" >&2 &
  server=$!
  until curl -sf -o /dev/null http://127.0.0.1:8788/health; do kill -0 $server; sleep 0.05; done
}`;
