import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bundleShares } from "../support/bundle-shares.js";

/** Of `npm run bundle`: what `wrangler deploy` would upload. */
const directory = "dist/bundle";
/** Of the build: the same, and its source map. */
const built = "dist/worker/d1";
const code = readFileSync(join(directory, "index.js"), "utf8");

describe("the Worker's bundle", () => {
  const shares = bundleShares(built);
  const total = shares.at(-1)!;

  it("is at most 320 KiB gzipped, with its binaries", () => {
    console.table(Object.fromEntries(shares.map(({ name, ...sizes }) => [name, sizes])));
    expect(total.gzipped).toBeLessThanOrEqual(320 * 1024);
    expect(code).toBe(readFileSync(join(built, "index.js"), "utf8"));
  });

  it("consists of parts that are known, and of little else", () => {
    expect(shares.slice(0, -1).reduce((sum, { bytes }) => sum + bytes, 0)).toBe(total.bytes);
    expect(shares.find(({ name }) => name === "other")?.bytes ?? 0).toBeLessThan(1024);
  });

  it("is one module and the binaries of Argon2 and bcrypt", () => {
    const modules = readdirSync(directory).filter((name) => /\.(js|mjs|wasm)$/.test(name));
    expect(modules.filter((name) => !name.endsWith(".wasm"))).toEqual(["index.js"]);
    const statements = code.matchAll(/(?:^|;)(?:import|export)\b[^;"'()]*["']([^"']+)["']/gm);
    const calls = code.matchAll(/\bimport\(\s*["']([^"']+)["']/g);
    const imports = [...statements, ...calls].map(([, name]) => name!);
    expect(imports.filter((name) => !name.endsWith(".wasm"))).toEqual(["cloudflare:workers"]);
    expect(code).not.toMatch(/["']node:/);
  });

  it("holds no code of tests and nobody's address", () => {
    for (const mark of ["__test", "Test-Project", "Test-Client-Address", "vitest", "fast-check"])
      expect(code).not.toContain(mark);
    expect(code).not.toContain(process.cwd());
  });
});
