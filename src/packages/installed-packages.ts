import { readFileSync } from "node:fs";
import { join } from "node:path";

/** An entry of package-lock.json. */
export interface Locked {
  readonly version: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** The packages of these names and what they depend on, by their paths such as `node_modules/hono`. */
export function installedPackages(
  root: string,
  names: readonly string[],
  { optional }: { readonly optional: boolean },
): ReadonlyMap<string, Locked> {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, Locked>>;
  };
  const found = new Map<string, Locked>();
  const add = (name: string, from: string): void => {
    const path = installedAt(packages, name, from);
    if (path === null || found.has(path)) return;
    const locked = packages[path]!;
    found.set(path, locked);
    const more = optional ? locked.optionalDependencies : {};
    for (const dependency of Object.keys({ ...locked.dependencies, ...more })) add(dependency, path);
  };
  for (const name of names) add(name, "");
  return found;
}

/** Where Node finds a package that is required from another: in the nearest `node_modules`. Null if nowhere. */
function installedAt(packages: Readonly<Record<string, Locked>>, name: string, from: string): string | null {
  for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf("/node_modules/")))) {
    const path = `${base === "" ? "" : `${base}/`}node_modules/${name}`;
    if (Object.hasOwn(packages, path)) return path;
    if (base === "") return null;
  }
}
