import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { emptyFolder } from "./installed.js";
import { tarballs } from "./released.js";

/** All files below a directory, without symbolic links. */
function filesIn(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function unpacked(tarball: string): string {
  const { path } = emptyFolder();
  mkdirSync(join(path, "unpacked"));
  execFileSync("tar", ["-xzf", tarball, "-C", join(path, "unpacked")]);
  return join(path, "unpacked/package");
}

const manifestOf = (directory: string) => JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));

describe.each(["server", "client"] as const)("the package of the %s", (name) => {
  it("holds no path of the checkout, no code cache, no source map and no install script", () => {
    const directory = unpacked(tarballs[name]);
    const files = filesIn(directory);
    expect(files.filter((file) => /\.(cache|map|ts)$/.test(file) && !file.endsWith(".d.ts"))).toEqual([]);
    for (const file of files) expect(readFileSync(file).includes(process.cwd()), file).toBe(false);
    const manifest = manifestOf(directory);
    expect(manifest).not.toHaveProperty("scripts");
    expect(manifest).not.toHaveProperty("private");
  });

  it("has every file that it exports, with its types", () => {
    const directory = unpacked(tarballs[name]);
    const { exports } = manifestOf(directory) as { readonly exports: Record<string, Record<string, string> | string> };
    for (const target of Object.values(exports).flatMap((entry) =>
      typeof entry === "string" ? [entry] : Object.values(entry),
    ))
      expect(statSync(join(directory, target)).isFile(), target).toBe(true);
  });

  it("could be published", () => {
    const { path } = emptyFolder();
    const args = ["publish", tarballs[name], "--dry-run", "--json", "--tag", "next"];
    const said = execFileSync("npm", args, { cwd: path, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    expect(Object.values(JSON.parse(said))).toContainEqual(expect.objectContaining({ name: `svc-${name}` }));
  });
});

it("the server's package has at most 2 MB; installed, it is at most 40 MB and 30 packages", async () => {
  expect(statSync(tarballs.server).size).toBeLessThanOrEqual(2_000_000);
  const folder = emptyFolder();
  await folder.install(tarballs.server);
  const modules = join(folder.path, "node_modules");
  const bytes = filesIn(modules).reduce((sum, file) => sum + statSync(file).size, 0);
  const lock = JSON.parse(readFileSync(join(modules, ".package-lock.json"), "utf8")) as { readonly packages: object };
  const packages = Object.keys(lock.packages).length;
  console.table({ "svc-server": { tarball: statSync(tarballs.server).size, installed: bytes, packages } });
  expect(bytes).toBeLessThanOrEqual(40_000_000);
  expect(packages).toBeLessThanOrEqual(30);
});

it("the client's package installs nothing else", async () => {
  const folder = emptyFolder();
  await folder.install(tarballs.client);
  expect(readdirSync(join(folder.path, "node_modules")).filter((name) => !name.startsWith("."))).toEqual([
    "svc-client",
  ]);
});
