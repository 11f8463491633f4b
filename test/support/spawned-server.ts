import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

export interface SpawnedServer {
  readonly url: string;
  readonly process: ChildProcess;
  /** Its exit code; null where a signal ended it. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** What the build of a checkout makes the command line of. */
export const builtCommand = "dist/svc/main.js";

/**
 * `svc serve` of the built server, in a process of its own, once it listens. Node loads `preload` before it, a module that
 * gets messages from the test. `command` is another checkout's.
 */
export async function spawnServer(
  directory: string,
  errors: "ignore" | "inherit" | "pipe" = "ignore",
  preload?: string,
  command = builtCommand,
): Promise<SpawnedServer> {
  const nodeOptions = preload === undefined ? [] : ["--import", preload];
  const args = [...nodeOptions, command, "serve", "--dir", directory, "--port", "0"];
  const server = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", errors, ...(preload === undefined ? [] : ["ipc" as const])],
  });
  const exited = new Promise<number | null>((resolve) => server.once("exit", resolve));
  const end = (signal: NodeJS.Signals) => {
    server.kill(signal);
    return exited;
  };
  for await (const line of createInterface(server.stdout!))
    return { url: line.replace("listening on ", ""), process: server, end };
  throw new Error("the server did not start");
}
