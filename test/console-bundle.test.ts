import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleConsole, type ConsoleSizes } from "../src/console/bundle.js";

describe("the console's page as it is built", () => {
  const directory = mkdtempSync(join(tmpdir(), "svc-console-"));
  afterAll(() => rmSync(directory, { recursive: true }));
  let sizes: ConsoleSizes;
  beforeAll(async () => {
    sizes = await bundleConsole("src/console", directory);
  });

  it("has at most 60 KB gzipped at first, and 250 KB in all", () => {
    expect(sizes.first).toBeLessThanOrEqual(60 * 1024);
    expect(sizes.all).toBeLessThanOrEqual(250 * 1024);
  });

  it("has names that tell what is in the files, and each file compressed beside itself", () => {
    const assets = readdirSync(join(directory, "assets")).filter((name) => !/\.(br|gz)$/.test(name));
    expect(assets.length).toBeGreaterThan(5);
    for (const name of ["index.html", ...assets.map((asset) => `assets/${asset}`)]) {
      if (name !== "index.html") expect(name).toMatch(/^assets\/[\w-]+-[\w-]{8}\.(js|css)$/);
      const bytes = readFileSync(join(directory, name));
      expect(gunzipSync(readFileSync(join(directory, `${name}.gz`))).equals(bytes)).toBe(true);
      expect(brotliDecompressSync(readFileSync(join(directory, `${name}.br`))).equals(bytes)).toBe(true);
    }
  });

  it("has a page that the policy lets run: no script and no style inside, and nothing from elsewhere", () => {
    const page = readFileSync(join(directory, "index.html"), "utf8");
    expect(page).not.toMatch(/<style|style=|<script(?![^>]* src=)|\son\w+=/);
    const addresses = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address!);
    for (const address of addresses.filter((each) => !each.startsWith("data:"))) {
      expect(address).toMatch(/^\/console\/assets\//);
      expect(existsSync(join(directory, address.slice("/console/".length)))).toBe(true);
    }
  });
});
