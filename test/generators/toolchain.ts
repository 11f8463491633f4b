import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The generators, and what runs and compiles what they write. */
const packages = {
  orval: "8.38.0",
  "openapi-typescript": "7.13.0",
  "openapi-fetch": "0.17.0",
  "@hey-api/openapi-ts": "0.99.0",
  typescript: "5.9.3",
  esbuild: "0.28.2",
};
/** Some of them run on Node 22 and newer alone. It comes from the registry, too. */
const nodePackage = `node-${process.platform}-${process.arch}`;
const nodeVersion = "22.23.3";
const pythonPackages = ["openapi-spec-validator==0.9.0", "openapi-python-client==0.29.1"];

/** What a program has printed, if it succeeded. */
export function done(program: string, args: readonly string[], options: { cwd?: string; env?: object } = {}): string {
  const { cwd, env = {} } = options;
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: "utf8",
    maxBuffer: 2 ** 28,
    ...(cwd !== undefined && { cwd }),
    env: { ...process.env, NO_COLOR: "1", ...env },
  });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}\n${error ?? ""}${stdout}${stderr}`.slice(0, 20_000));
  return stdout + stderr;
}

/** The generators in a temporary folder, as they are no dependencies of the project. */
export class Toolchain {
  readonly directory = mkdtempSync(join(tmpdir(), "svc-generators-"));
  /** Null where this machine has no Python: its checks are then skipped, and it says so. */
  readonly python: string | null;

  constructor() {
    writeFileSync(join(this.directory, "package.json"), JSON.stringify({ private: true, type: "module" }));
    const wanted = Object.entries(packages).map(([name, version]) => `${name}@${version}`);
    const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    done("npm", ["install", ...options, ...wanted, `${nodePackage}@${nodeVersion}`], { cwd: this.directory });
    this.python = this.#installPython();
  }

  #installPython(): string | null {
    const environment = join(this.directory, "python");
    const made = spawnSync("python3", ["-m", "venv", environment], { encoding: "utf8" });
    if (made.status !== 0) {
      process.stderr.write(
        "no python3 with venv on this machine: openapi-spec-validator and openapi-python-client do not run\n",
      );
      return null;
    }
    const python = join(environment, "bin/python");
    done(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...pythonPackages]);
    return python;
  }

  /** Runs a command of an npm package. */
  command(name: string, args: readonly string[]): string {
    return this.run(join(this.directory, "node_modules/.bin", name), args);
  }

  /** Runs a program in JavaScript. */
  run(file: string, args: readonly string[] = [], env: object = {}): string {
    const node = join(this.directory, "node_modules", nodePackage, "bin/node");
    return done(node, [file, ...args], { cwd: this.directory, env });
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
