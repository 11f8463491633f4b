import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { builtCommand } from "./spawned-server.js";

const config = `auth = { allow_insecure_dev_secret = true, dev_secret = "a secret of the fault tests, 32 bytes" }
api = { deadline_ms = 600000, key_deadline_ms = 600000 }
`;

/** A project for the built server and the built command line, until the test ends. */
export function projectDirectory(schema: string): string {
  const directory = mkdtempSync(join(tmpdir(), "svc-faults-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, "svc.schema.yaml"), schema);
  writeFileSync(join(directory, "svc.toml"), config);
  return directory;
}

/** A command of the command line that must succeed. */
export function svcDone(directory: string, args: readonly string[], input = "", command = builtCommand) {
  const words = [command, ...args, "--dir", directory];
  const done = spawnSync(process.execPath, words, { encoding: "utf8", input, maxBuffer: 2 ** 28 });
  expect(done.status, done.stderr).toBe(0);
  return done;
}

/** What it has printed. */
export function svc(directory: string, args: readonly string[], input = "", command = builtCommand): string {
  return svcDone(directory, args, input, command).stdout;
}
