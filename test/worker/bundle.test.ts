import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bundleShares } from "../support/bundle-shares.js";

/** What `wrangler deploy` would upload. */
const directory = "dist/bundle";
uploadTo(directory);
/** Of the build: what `svc worker build` copies, and its source maps. */
const built = "dist/worker/modules";
/** Lets wrangler write what it would upload, of the modules as they are: the build that it would run changes `dist`. */
function uploadTo(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
  const config = readFileSync("wrangler.toml", "utf8").replace(/^\[build\]\n.*\n/m, "");
  writeFileSync("dist/wrangler.toml", config.replaceAll('".svc/', '"../.svc/'));
  const args = ["deploy", "--dry-run", "--outdir", directory, "--config", "dist/wrangler.toml"];
  execFileSync("node_modules/.bin/wrangler", args, { stdio: ["ignore", "ignore", "inherit"] });
}

const codeOf = (name: string) => readFileSync(join(directory, name), "utf8");
const uploaded = readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((name) =>
  /\.(js|mjs|wasm)$/.test(name),
);
const scripts = uploaded.filter((name) => !name.endsWith(".wasm")).sort();

describe("the Worker's bundle", () => {
  const shares = bundleShares(built, (name) => name !== "create-svc.js");
  const total = shares.at(-1)!;

  it("is at most 336 KiB gzipped, with its binaries and the libSQL client", () => {
    console.table(Object.fromEntries(shares.map(({ name, ...sizes }) => [name, sizes])));
    expect(total.gzipped).toBeLessThanOrEqual(336 * 1024);
    for (const name of ["worker.js", "libsql.js", "shared.js"])
      expect(codeOf(`svc/${name}`)).toBe(readFileSync(join(built, name), "utf8"));
  });

  it("consists of parts that are known, and of little else", () => {
    expect(shares.slice(0, -1).reduce((sum, { bytes }) => sum + bytes, 0)).toBe(total.bytes);
    expect(shares.find(({ name }) => name === "other")?.bytes ?? 0).toBeLessThan(2048);
  });

  it("is the project, the server, the libSQL client for those that use it, and the binaries of Argon2 and bcrypt", () => {
    expect(scripts).toEqual(["index.js", "project.js", "svc/libsql.js", "svc/shared.js", "svc/worker.js"]);
    const importsOf = (name: string) => {
      const code = codeOf(name);
      expect(code).not.toMatch(/["']node:/);
      const statements = code.matchAll(/(?:^|;)(?:import|export)\b(?:[^;"'`()]*\bfrom)?\s*["']([^"']+)["']/gm);
      const calls = code.matchAll(/\bimport\(\s*["'`]([^"'`]+)["'`]/g);
      const names = [...statements, ...calls].map(([, imported]) => imported!);
      return names.filter((imported) => !imported.endsWith(".wasm")).sort();
    };
    expect(Object.fromEntries(scripts.map((name) => [name, importsOf(name)]))).toEqual({
      "index.js": ["./project.js", "./svc/worker.js"],
      "project.js": [],
      "svc/libsql.js": ["./shared.js"],
      "svc/shared.js": ["./libsql.js", "cloudflare:workers"],
      "svc/worker.js": ["./shared.js"],
    });
  });

  it("holds no code of tests and nobody's address", () => {
    for (const code of scripts.map(codeOf)) {
      for (const mark of ["__test", "Test-Project", "Test-Client-Address", "vitest", "fast-check"])
        expect(code).not.toContain(mark);
      expect(code).not.toContain(process.cwd());
    }
  });
});
