import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";

// Of `npm run bundle`: what `wrangler deploy` would upload.
const directory = "dist/bundle";
const code = readFileSync(join(directory, "index.js"), "utf8");

describe("the Worker's bundle", () => {
  it("is at most 256 KiB gzipped", () => {
    expect(gzipSync(code).length).toBeLessThanOrEqual(256 * 1024);
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
