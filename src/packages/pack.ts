// `npm run pack`: writes the tarballs of the two packages that others install, `svc-server` and `svc-client`, to
// `release/` (`docs/start.md#install`). Both are made of the build, so this step runs after it.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { noticesOf } from "./notices.js";

const root = join(import.meta.dirname, "../..");
const staging = join(root, "dist/packed");
const release = join(root, "release");

const readJson = (path: string) => JSON.parse(readFileSync(join(root, path), "utf8"));
const own = readJson("package.json");
const client = readJson("src/client/package.json");
const console = readJson("src/console/package.json");

/** Packages with native code cannot be bundled. Everything else is. */
const native = ["@node-rs/argon2", "@node-rs/bcrypt", "libsql"];
const versions = own.dependencies as Readonly<Record<string, string>>;
const bundled = Object.keys(versions).filter((name) => !native.includes(name));

const common = {
  version: own.version,
  license: own.license,
  type: "module",
  engines: own.engines,
};

/** A module of the build, and its types. */
const exported = (module: string, types = module) => ({
  types: `./dist/${types}.d.ts`,
  default: `./dist/${module}.js`,
});

rmSync(staging, { recursive: true, force: true });
mkdirSync(release, { recursive: true });

pack(
  "server",
  {
    name: "svc-server",
    ...common,
    description: own.description,
    bin: { svc: "dist/svc/main.js" },
    exports: {
      ".": exported("svc/library", "node/server/create-svc"),
      "./worker": exported("worker/modules/create-svc", "worker/create-svc"),
      "./client": exported("client/index"),
      "./client/outbox": exported("client/outbox"),
      "./client/rxdb": exported("client/rxdb"),
      "./client/tanstack-db": exported("client/tanstack-db"),
      "./package.json": "./package.json",
    },
    dependencies: Object.fromEntries(native.map((name) => [name, versions[name]])),
    peerDependencies: { ...client.peerDependencies, wrangler: `^${own.devDependencies.wrangler}` },
    peerDependenciesMeta: { ...client.peerDependenciesMeta, wrangler: { optional: true } },
  },
  {
    svc: isCode,
    console: (path) => !/^(build|bundle)\./.test(path),
    client: isCodeOrTypes,
    wire: (path) => path.endsWith(".d.ts"),
    "worker/modules": (path) => /\.(js|wasm)$/.test(path),
    library: (path) => path === "svc.d.ts",
    "node/server": (path) => path === "create-svc.d.ts",
    worker: (path) => path === "create-svc.d.ts",
  },
  noticesOf(root, [...bundled, ...Object.keys(console.devDependencies)]),
);

pack(
  "client",
  {
    name: client.name,
    ...common,
    description: client.description,
    exports: {
      ".": exported("client/index"),
      "./outbox": exported("client/outbox"),
      "./rxdb": exported("client/rxdb"),
      "./tanstack-db": exported("client/tanstack-db"),
      "./package.json": "./package.json",
    },
    sideEffects: false,
    peerDependencies: client.peerDependencies,
    peerDependenciesMeta: client.peerDependenciesMeta,
  },
  { client: isCodeOrTypes, wire: (path) => path.endsWith(".d.ts") },
  null,
);

function isCode(path: string): boolean {
  return path.endsWith(".js") || path === "package.json";
}

function isCodeOrTypes(path: string): boolean {
  return /\.(js|d\.ts)$/.test(path);
}

/**
 * Puts a package together and packs it. `parts` are folders of `dist`, and which of their files belong to the package.
 * `notices` are the licenses of what is bundled.
 */
function pack(
  name: string,
  manifest: object,
  parts: Readonly<Record<string, (path: string) => boolean>>,
  notices: string | null,
): void {
  const directory = join(staging, name);
  mkdirSync(directory, { recursive: true });
  cpSync(join(root, "src/packages", name), directory, { recursive: true });
  for (const [part, belongs] of Object.entries(parts)) copyPart(part, join(directory, "dist", part), belongs);
  if (notices !== null) writeFileSync(join(directory, "NOTICES.txt"), notices);
  writeFileSync(join(directory, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  const [packed] = JSON.parse(
    execFileSync("npm", ["pack", "--json", "--pack-destination", release], { cwd: directory, encoding: "utf8" }),
  );
  process.stdout.write(`release/${packed.filename}: ${packed.size} bytes, ${packed.entryCount} files\n`);
}

function copyPart(part: string, target: string, belongs: (path: string) => boolean): void {
  const source = join(root, "dist", part);
  for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
    const path = relative(source, join(entry.parentPath, entry.name));
    if (entry.isFile() && belongs(path)) cpSync(join(source, path), join(target, path));
  }
}
