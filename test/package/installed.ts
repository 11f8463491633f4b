import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";

const run = promisify(execFile);

/** How a command has ended, and what it has printed. */
export interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder outside of the checkout, in which packages are installed. */
export interface Folder {
  readonly path: string;
  /** The Node that runs here. */
  readonly node: string;
  /** Installs packages from the registry or from tarballs. */
  install(...packages: readonly string[]): Promise<void>;
  /** Runs the installed `svc`. Does not reject where it fails. */
  svc(...args: readonly string[]): Promise<Outcome>;
  /** As `svc`, with more environment variables. */
  svcWith(environment: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Outcome>;
  /** Runs a program of the folder with its Node. */
  program(file: string, source: string): Promise<Outcome>;
  /** `svc serve` on a free port, once it listens. */
  serve(...args: readonly string[]): Promise<Served>;
}

/** A server, which `stop` ends with SIGTERM, for its exit code. */
export interface Served {
  readonly url: string;
  stop(): Promise<number | null>;
}

/** Runs a command that serves, until it listens. Signals go to all of its processes, as those of a terminal do. */
export async function servedBy(
  file: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<Served> {
  const server = spawn(file, args, { ...options, detached: true, stdio: ["ignore", "pipe", "inherit"] });
  const end = (signal: NodeJS.Signals) => {
    if (server.exitCode === null && server.signalCode === null) process.kill(-server.pid!, signal);
  };
  const exited = new Promise<number | null>((resolve) => server.once("exit", resolve));
  // Where the test fails before it has stopped the server.
  onTestFinished(() => end("SIGKILL"));
  const stop = () => {
    end("SIGTERM");
    return exited;
  };
  for await (const line of createInterface(server.stdout!)) return { url: line.replace("listening on ", ""), stop };
  throw new Error("the server did not start");
}

/**
 * An empty folder, which is removed after the test. `svc` is that of the installed package, or `executable`, which then has
 * an empty home.
 */
export function emptyFolder(node = process.execPath, executable?: string): Folder {
  const path = mkdtempSync(join(tmpdir(), "svc-package-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  const home = executable === undefined ? (process.env.HOME ?? path) : join(path, "home");
  // Nothing of the checkout: neither variables that npm or vitest set, nor commands of its node_modules.
  const env = { PATH: `${dirname(node)}:/usr/local/bin:/usr/bin:/bin`, HOME: home };
  const installed = [node, join("node_modules", "svc-server", "dist", "svc", "main.js")] as const;
  const command = executable === undefined ? installed : ([executable] as const);
  const outcome = async ([file, ...args]: readonly string[], more: Readonly<Record<string, string>> = {}) => {
    try {
      const { stdout, stderr } = await run(file!, args, { cwd: path, env: { ...env, ...more } });
      return { status: 0, stdout, stderr };
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { status: code, stdout, stderr };
    }
  };
  return {
    path,
    node,
    install: async (...packages) => {
      await run("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", ...packages], { cwd: path, env });
    },
    svc: (...args) => outcome([...command, ...args]),
    svcWith: (environment, ...args) => outcome([...command, ...args], environment),
    program: (file, source) => {
      writeFileSync(join(path, file), source);
      return outcome([node, file]);
    },
    serve: (...args) => {
      const [file, ...before] = command;
      return servedBy(file, [...before, "serve", "--port", "0", ...args], { cwd: path, env });
    },
  };
}
