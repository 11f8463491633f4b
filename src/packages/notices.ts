import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { installedPackages } from "./installed-packages.js";

/**
 * The licenses of packages that a bundle contains, with those of their dependencies: each name and version, and the text of
 * its license.
 * @param root the directory with `package-lock.json` and `node_modules`
 */
export function noticesOf(root: string, names: readonly string[]): string {
  const found = installedPackages(root, names, { optional: false });
  return [...found]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, { version, license = "see below" }]) => {
      const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
      return `${name} ${version} (${license})\n\n${licenseText(join(root, path))}`;
    })
    .join(`\n${"-".repeat(80)}\n\n`);
}

function licenseText(directory: string): string {
  const file = readdirSync(directory).find((name) => /^licen[cs]e(\.|$)/i.test(name));
  return file === undefined
    ? "The package contains no text of its license.\n"
    : `${readFileSync(join(directory, file), "utf8").trim()}\n`;
}
