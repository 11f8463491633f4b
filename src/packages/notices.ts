import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** An entry of package-lock.json. */
interface Locked {
  readonly version: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/**
 * The licenses of packages that a bundle contains, with those of their dependencies: each name and version, and the text of
 * its license.
 * @param root the directory with `package-lock.json` and `node_modules`
 */
export function noticesOf(root: string, names: readonly string[]): string {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, Locked>>;
  };
  const found = new Set<string>();
  const add = (name: string, from: string): void => {
    const path = installedAt(packages, name, from);
    if (path === null || found.has(path)) return;
    found.add(path);
    for (const dependency of Object.keys(packages[path]!.dependencies ?? {})) add(dependency, path);
  };
  for (const name of names) add(name, "");
  return [...found]
    .sort()
    .map((path) => {
      const { version, license = "see below" } = packages[path]!;
      const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
      return `${name} ${version} (${license})\n\n${licenseText(join(root, path))}`;
    })
    .join(`\n${"-".repeat(80)}\n\n`);
}

/** Where Node finds a package that is required from another: in the nearest `node_modules`. Null if nowhere. */
function installedAt(packages: Readonly<Record<string, Locked>>, name: string, from: string): string | null {
  for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf("/node_modules/")))) {
    const path = `${base === "" ? "" : `${base}/`}node_modules/${name}`;
    if (Object.hasOwn(packages, path)) return path;
    if (base === "") return null;
  }
}

function licenseText(directory: string): string {
  const file = readdirSync(directory).find((name) => /^licen[cs]e(\.|$)/i.test(name));
  return file === undefined
    ? "The package contains no text of its license.\n"
    : `${readFileSync(join(directory, file), "utf8").trim()}\n`;
}
