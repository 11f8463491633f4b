import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { codeCacheOf, compile } from "../../src/cli/code-cache.js";

const built = "dist/svc";
const caches = (directory: string) =>
  readdirSync(directory).flatMap((name) => (name.endsWith(".cache") ? [join(directory, name)] : []));

describe("the code cache of the built command line", () => {
  it("is of every file but the one that loads it, and taken by this Node", () => {
    const files = readdirSync(built).filter((name) => name.endsWith(".js") && name !== "main.js");
    expect(files).toContain("svc.js");
    for (const path of files.map((name) => join(built, name))) {
      const { cachedDataRejected } = compile(path, readFileSync(codeCacheOf(path)));
      expect([path, cachedDataRejected]).toEqual([path, false]);
    }
  });

  it.each<[string, (path: string) => void]>([
    ["is missing", (path) => rmSync(path)],
    ["is cut off", (path) => truncateSync(path, 1000)],
    ["is empty", (path) => truncateSync(path)],
    ["is of another version of V8", (path) => writeFileSync(path, otherVersion(readFileSync(path)))],
    ["is something else", (path) => writeFileSync(path, "something else")],
  ])("does nothing where it %s", (_name, spoil) => {
    const copy = mkdtempSync("dist/svc-");
    onTestFinished(() => rmSync(copy, { recursive: true }));
    cpSync(built, copy, { recursive: true });
    expect(caches(copy).length).toBeGreaterThan(10);
    for (const path of caches(copy)) spoil(path);
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(copy, "main.js"), "check"]);
    expect([status, String(stdout), String(stderr)]).toEqual([0, "no problems\n", ""]);
  });
});

/** Its second word is a hash of the version. */
function otherVersion(cache: Buffer): Buffer {
  cache.writeUInt32LE(cache.readUInt32LE(4) ^ 1, 4);
  return cache;
}
