import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { loadModule } from "../../src/cli/code-cache.js";
import { svc } from "./svc.js";

interface Exports {
  answer(): number;
  file: string;
  late(): Promise<unknown>;
}

let directory: string;
let path: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "svc-code-cache-"));
  path = join(directory, "module.cjs");
  writeFileSync(join(directory, "late.mjs"), "export const isThere = true;\n");
  writeFileSync(
    path,
    "exports.answer = () => 42;\nexports.file = __filename;\nexports.late = () => import('./late.mjs');\n",
  );
});

afterEach(() => rmSync(directory, { recursive: true }));

const load = () => loadModule<Exports>(path);

it("loads a module as require does, with and without what was compiled of it", async () => {
  load().writeCache();
  for (const { exports } of [load(), load()]) {
    expect(exports.answer()).toBe(42);
    expect(exports.file).toBe(path);
    expect(await exports.late()).toMatchObject({ isThere: true });
  }
});

it.each([
  ["is of something else", () => writeFileSync(`${path}.cache`, "not what V8 writes")],
  ["is torn", () => truncateSync(`${path}.cache`, 100)],
  ["is gone", () => rmSync(`${path}.cache`)],
])("compiles it anew where the cache %s", (_, spoil) => {
  load().writeCache();
  spoil();
  expect(load().exports.answer()).toBe(42);
});

it("is what the build has left beside the command line", () => {
  expect(existsSync("dist/svc/svc.cjs.cache")).toBe(true);
  // One byte a character, as it is read.
  expect(readFileSync("dist/svc/svc.cjs", "utf8")).toMatch(/^[\0-\x7f]*$/);
  expect(svc(["--version"]).status).toBe(0);
});
