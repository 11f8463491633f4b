// `npm run build:binary`: writes one executable for the platform that it runs on to `release/`. It is Node itself with the
// server's package (`npm run pack`) and its native packages inside (https://nodejs.org/api/single-executable-applications.html).
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { installedPackages } from "../installed-packages.js";
import type { Manifest } from "./unpacked.js";

const root = join(import.meta.dirname, "../../..");
const server = join(root, "dist/packed/server");
const work = join(root, "dist/packed/binary");
const { version, dependencies } = JSON.parse(readFileSync(join(server, "package.json"), "utf8"));

if (process.platform !== "linux") {
  process.stderr.write("build:binary: only Linux is supported, as an executable of other systems has to be signed\n");
  process.exit(1);
}

rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });

const files = [...filesOf(server, server), ...nativeFiles()];
const contents = files.map(({ source }) => readFileSync(source));
const manifest: Manifest = {
  release: version,
  files: files.map(({ path }, i) => ({
    path,
    size: contents[i]!.length,
    hash: createHash("sha256").update(contents[i]!).digest("hex"),
  })),
};
const asset = (name: string, content: string | Uint8Array) => {
  const path = join(work, name);
  writeFileSync(path, content);
  return path;
};
const bundle = await rolldown({ input: join(import.meta.dirname, "start.js"), platform: "node" });
await bundle.write({ file: join(work, "start.cjs"), format: "cjs" });
const blob = join(work, "program.blob");
const configuration = asset(
  "sea.json",
  JSON.stringify({
    main: join(work, "start.cjs"),
    output: blob,
    disableExperimentalSEAWarning: true,
    assets: {
      manifest: asset("manifest.json", JSON.stringify(manifest)),
      files: asset("files.gz", gzipSync(Buffer.concat(contents), { level: 9 })),
    },
  }),
);
execFileSync(process.execPath, ["--experimental-sea-config", configuration], {
  stdio: ["ignore", "ignore", "inherit"],
});

const executable = join(root, "release", `svc-${version}-${process.platform}-${process.arch}`);
mkdirSync(join(root, "release"), { recursive: true });
rmSync(executable, { force: true });
copyFileSync(process.execPath, executable);
chmodSync(executable, 0o755);
const postject = createRequire(import.meta.url).resolve("postject/dist/cli.js");
const fuse = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";
// Its warnings about sections of Node's executable are for its own developers. An error has them in its message.
execFileSync(process.execPath, [postject, executable, "NODE_SEA_BLOB", blob, "--sentinel-fuse", fuse], {
  stdio: "pipe",
});
rmSync(work, { recursive: true });
const compressed = gzipSync(readFileSync(executable)).length;
process.stdout.write(
  `${relative(root, executable)}: ${statSync(executable).size} bytes, ${compressed} gzipped, with Node ${process.versions.node}\n`,
);

interface Source {
  readonly path: string;
  readonly source: string;
}

/** The files of a folder, with their paths from `base`. Those of packages within it are left out. */
function filesOf(folder: string, base: string): Source[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((source) => !relative(folder, source).startsWith("node_modules/") && !/\.(d\.ts|md)$/.test(source))
    .map((source) => ({ source, path: relative(base, source) }))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** The packages that cannot be bundled, with what they need on this platform. */
function nativeFiles(): Source[] {
  const packages = installedPackages(root, Object.keys(dependencies), { optional: true });
  return [...packages.keys()]
    .map((path) => join(root, path))
    .filter((folder) => existsSync(folder) && isForHere(folder))
    .flatMap((folder) => filesOf(folder, root));
}

/** Whether a package is for this system, processor and C library. npm also installs those for another C library. */
function isForHere(folder: string): boolean {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Partial<
    Record<"os" | "cpu" | "libc", readonly string[]>
  >;
  const { os, cpu, libc = libcIn(folder) } = manifest;
  const isFor = (list: readonly string[] | undefined, here: string) => list === undefined || list.includes(here);
  return isFor(os, process.platform) && isFor(cpu, process.arch) && isFor(libc, ownLibc());
}

/** By the end of the package's name, where its manifest does not say it. */
function libcIn(folder: string): readonly string[] | undefined {
  const [, libc] = /-(musl|gnu)$/.exec(folder) ?? [];
  return libc === undefined ? undefined : [libc === "gnu" ? "glibc" : libc];
}

function ownLibc(): string {
  const { header } = process.report.getReport() as unknown as { readonly header: object };
  return "glibcVersionRuntime" in header ? "glibc" : "musl";
}
