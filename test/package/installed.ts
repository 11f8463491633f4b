import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { release } from "../../src/platform/release.js";

const run = promisify(execFile);

/** The tarballs that `npm run pack` has made. */
export const tarballs = {
  server: resolve(`release/svc-server-${release}.tgz`),
  client: resolve(`release/svc-client-${release}.tgz`),
};

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
  /** Runs a program of the folder with its Node. */
  program(file: string, source: string): Promise<Outcome>;
  /** `svc serve` on a free port, once it listens. */
  serve(...args: readonly string[]): Promise<{ readonly url: string; stop(): Promise<number | null> }>;
}

/** An empty folder, which is removed after the test. */
export function emptyFolder(node = process.execPath): Folder {
  const path = mkdtempSync(join(tmpdir(), "svc-package-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  // Nothing of the checkout: neither variables that npm or vitest set, nor commands of its node_modules.
  const env = { PATH: `${dirname(node)}:/usr/local/bin:/usr/bin:/bin`, HOME: process.env.HOME ?? path };
  const command = join("node_modules", "svc-server", "dist", "svc", "main.js");
  const outcome = async (args: readonly string[]): Promise<Outcome> => {
    try {
      const { stdout, stderr } = await run(node, args, { cwd: path, env });
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
    svc: (...args) => outcome([command, ...args]),
    program: (file, source) => {
      writeFileSync(join(path, file), source);
      return outcome([file]);
    },
    serve: async (...args) => {
      const server = spawn(node, [command, "serve", "--port", "0", ...args], {
        cwd: path,
        env,
        stdio: ["ignore", "pipe", "inherit"],
      });
      const exited = new Promise<number | null>((resolve) => server.once("exit", resolve));
      // Where the test fails before it has stopped the server.
      onTestFinished(() => void server.kill("SIGKILL"));
      const stop = () => {
        server.kill("SIGTERM");
        return exited;
      };
      for await (const line of createInterface(server.stdout!)) return { url: line.replace("listening on ", ""), stop };
      throw new Error("the server did not start");
    },
  };
}
