import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { codeCacheOf, load, thisBuild, writeCodeCaches } from "../../src/cli/code-cache.js";

const built = "dist/svc";
/** With a code cache each. */
const sources = (directory: string) => {
  const names = readdirSync(directory).filter((name) => name.endsWith(".js.cache"));
  return names.map((name) => join(directory, name.replace(".cache", "")));
};
/** Undefined: nothing was offered to V8. */
const isRefused = (path: string): boolean | undefined => load(path).cachedDataRejected;

/** Of the built command line, where it may be spoilt. */
function copied(): string {
  const copy = mkdtempSync(join(tmpdir(), "svc-code-cache-"));
  onTestFinished(() => rmSync(copy, { recursive: true }));
  cpSync(built, copy, { recursive: true });
  return copy;
}

function edit(path: string, change: (bytes: Buffer) => void): void {
  const bytes = readFileSync(path);
  change(bytes);
  writeFileSync(path, bytes);
}

describe("the code cache of the built command line", () => {
  it("is of every file that is loaded with one, and used", () => {
    const files = readdirSync(built).filter((name) => name.endsWith(".js"));
    const without = [
      "main.js",
      "library.js",
      "libsql-file-worker.js",
      "libsql-long-work-thread.js",
      "schema-plan-thread.js",
    ];
    expect(sources(built)).toEqual(files.filter((name) => !without.includes(name)).map((name) => join(built, name)));
    for (const path of sources(built)) expect([path, isRefused(path)]).toEqual([path, false]);
  });

  it("is used where the files were moved to, and does not tell where they came from", () => {
    for (const path of sources(copied())) {
      expect([path, isRefused(path)]).toEqual([path, false]);
      expect(readFileSync(codeCacheOf(path)).includes(resolve("."))).toBe(false);
    }
  });

  it.each<[string, (path: string) => void]>([
    ["is missing", (path) => rmSync(codeCacheOf(path))],
    ["is empty", (path) => truncateSync(codeCacheOf(path))],
    ["is cut off", (path) => truncateSync(codeCacheOf(path), 1000)],
    ["ends in zeros", (path) => edit(codeCacheOf(path), (bytes) => bytes.fill(0, bytes.length >> 1))],
    ["has a bit that flipped", (path) => edit(codeCacheOf(path), flipMiddle)],
    ["is something else", (path) => writeFileSync(codeCacheOf(path), "something else")],
    ["is of another build of Node", ofAnotherBuild],
    ["is of another text of the same length", (path) => edit(path, (bytes) => bytes.fill(" ", bytes.length - 1))],
  ])("is not used where it %s", (_name, spoil) => {
    const copy = copied();
    const paths = sources(copy);
    expect(paths.length).toBeGreaterThan(10);
    for (const path of paths) {
      spoil(path);
      expect([path, isRefused(path)]).toEqual([path, undefined]);
    }
    const ran = spawnSync(process.execPath, [join(copy, "main.js"), "check"], {
      encoding: "utf8",
      env: { PATH: process.env.PATH, NODE_PATH: resolve("node_modules") },
    });
    expect(ran).toMatchObject({ status: 0, stdout: expect.stringMatching(/^no problems\n/), stderr: "" });
  });
});

function flipMiddle(bytes: Buffer): void {
  const middle = bytes.length >> 1;
  bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
}

function ofAnotherBuild(path: string): void {
  writeCodeCaches(dirname(path), [basename(path)], thisBuild.replace("v", "w"));
}
