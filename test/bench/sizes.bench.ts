import { execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { gzipSync } from "node:zlib";
import { test } from "vitest";
import { executable, tarballs } from "../package/released.js";
import { figure, median, timed } from "../support/figures.js";
import { freePort } from "../support/free-port.js";

const repetitions = 9;
const pocketbase = process.env.POCKETBASE;
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

/** A way to get a server: what is loaded, what is on the disk then, and how it is started. */
interface Got {
  readonly name: string;
  readonly loaded: number;
  readonly installed: number;
  readonly packages: string;
  /** Starts on a database that is there, waits for the first answer, and stops. */
  readonly start: () => Promise<void>;
}

test("what is loaded and installed, and how long a start takes", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-sizes-"));
  const all = [fromTarball(join(folder, "tarball")), fromExecutable(join(folder, "executable"))];
  if (pocketbase !== undefined) all.push(fromPocketbase(pocketbase, join(folder, "pocketbase")));
  const times = all.map((): number[] => []);
  for (const { start } of all) await start();
  for (let i = 0; i < repetitions; i++)
    for (const [which, { start }] of all.entries()) times[which]!.push(await timed(start));
  for (const [which, { name, loaded, installed, packages }] of all.entries()) {
    const ms = `${median(times[which]!).toFixed(0)} ms`;
    figure("sizes", name, megabytes(loaded), megabytes(installed), packages, ms);
  }
  figure("sizes", "`svc-client` from its tarball", megabytes(statSync(tarballs.client).size), "", "1", "");
  rmSync(folder, { recursive: true });
});

function fromTarball(folder: string): Got {
  mkdirSync(folder);
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", tarballs.server], { cwd: folder });
  const modules = join(folder, "node_modules");
  const { packages } = JSON.parse(readFileSync(join(modules, ".package-lock.json"), "utf8")) as { packages: object };
  const command = join(modules, "svc-server/dist/svc/main.js");
  return {
    name: "`svc-server` from its tarball, with Node there already",
    loaded: statSync(tarballs.server).size,
    installed: bytesIn(modules),
    packages: String(Object.keys(packages).length),
    start: project(folder, [process.execPath, command], {}),
  };
}

function fromExecutable(folder: string): Got {
  mkdirSync(folder);
  symlinkSync(executable, join(folder, "svc"));
  const cache = join(folder, "cache");
  const start = project(folder, [executable], { SVC_CACHE_DIR: cache });
  return {
    name: "`svc` as a single executable, gzipped to load",
    loaded: gzipSync(readFileSync(executable)).length,
    installed: statSync(executable).size + bytesIn(cache),
    packages: "0",
    start,
  };
}

/** Starts the project of `svc init`, which is made at first. */
function project(folder: string, [file, ...args]: readonly string[], more: Readonly<Record<string, string>>) {
  const env = { ...process.env, ...more };
  const directory = join(folder, "shop");
  execFileSync(file!, [...args, "init", directory], { env });
  return async () => {
    const command = [...args, "serve", "--dir", directory, "--port", "0"];
    const server = spawn(file!, command, { env, stdio: ["ignore", "pipe", "ignore"] });
    for await (const line of createInterface(server.stdout)) {
      await fetch(`${line.replace("listening on ", "")}/api/products`);
      break;
    }
    await ended(server);
  };
}

function fromPocketbase(binary: string, folder: string): Got {
  mkdirSync(folder);
  return {
    name: "PocketBase, gzipped to load",
    loaded: gzipSync(readFileSync(binary)).length,
    installed: statSync(binary).size,
    packages: "0",
    start: async () => {
      const port = await freePort("127.0.0.1");
      const args = ["serve", "--http", `127.0.0.1:${port}`, "--dir", join(folder, "pb_data")];
      const server = spawn(binary, args, { stdio: "ignore" });
      // It says that it listens before it does.
      while ((await fetch(`http://127.0.0.1:${port}/api/health`).catch(() => null))?.ok !== true)
        await new Promise((again) => setTimeout(again, 2));
      await ended(server);
    },
  };
}

async function ended(server: ReturnType<typeof spawn>): Promise<void> {
  const exited = new Promise((resolve) => server.once("exit", resolve));
  server.kill("SIGTERM");
  await exited;
}

function bytesIn(folder: string): number {
  if (!existsSync(folder)) return 0;
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => lstatSync(join(folder, name)))
    .reduce((sum, entry) => sum + (entry.isFile() ? entry.size : 0), 0);
}
